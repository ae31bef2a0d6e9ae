#include <attograd/attograd.h>

int main() {}
