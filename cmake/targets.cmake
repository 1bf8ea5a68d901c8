# isocloth_module(NAME FOLDERS...): an object library of every .cpp in the given folders of the calling directory.
function(isocloth_module name)
  set(sources)
  foreach(folder IN LISTS ARGN)
    file(GLOB found CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp)
    list(APPEND sources ${found})
  endforeach()
  add_library(${name} OBJECT ${sources})
  target_link_libraries(${name} PRIVATE isocloth_flags)
endfunction()

# isocloth_unity(MODULES...): many small files read the same large headers; whoever does not change them reads them once
# for several files.
function(isocloth_unity)
  if(NOT ISOCLOTH_BUILD_TESTS OR ISOCLOTH_SANITIZE OR ISOCLOTH_UNITY)
    set_target_properties(${ARGN} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  endif()
endfunction()

# isocloth_model_folders(VARIABLE PATTERNS...): folders of the calling directory that match, of models beside the core;
# those of ISOCLOTH_MODELS=OFF: none.
function(isocloth_model_folders variable)
  set(found)
  if(ISOCLOTH_MODELS)
    file(GLOB found CONFIGURE_DEPENDS LIST_DIRECTORIES ON RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${ARGN})
  endif()
  set(${variable} ${found} PARENT_SCOPE)
endfunction()
# The folder with the lists of models: of those that there are, or of none; and what this build leaves out.
if(ISOCLOTH_MODELS)
  set(isocloth_model_lists models/lists)
  set(isocloth_unused_models without_models/)
else()
  set(isocloth_model_lists without_models)
  set(isocloth_unused_models models/)
endif()
