// The HDF5 library leaks a few hundred bytes each time that it refuses a damaged file.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libhdf5"; }
