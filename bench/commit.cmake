# cmake -D SOURCE=FOLDER -D OUT=FILE -P commit.cmake: writes a C++ file that names the commit of the tree in FOLDER,
# "-dirty" behind it where tracked files are changed, "unknown" outside a checkout. The file is new only where its text is.
execute_process(COMMAND git ls-files --error-unmatch CMakeLists.txt WORKING_DIRECTORY ${SOURCE}
                RESULT_VARIABLE not_tracked OUTPUT_QUIET ERROR_QUIET)
execute_process(COMMAND git describe --always --dirty --abbrev=12 --exclude=* WORKING_DIRECTORY ${SOURCE}
                RESULT_VARIABLE failed OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(not_tracked OR failed)
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT ${OUT} @ONLY CONTENT [=[
namespace isocloth::bench {
extern const char* const built_from_commit;
const char* const built_from_commit = "@commit@";
}  // namespace isocloth::bench
]=])
