#include <cstdio>

int main() { std::puts("isocloth"); }
