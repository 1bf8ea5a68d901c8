# Text files inside the library.
# isocloth_embed(TARGET SYMBOL FILE): std::string_view isocloth::assets::SYMBOL is the text of FILE; building the
# target again after an edit of FILE brings it up to date. SYMBOL is declared by hand in a header.
# The same file run by cmake -P writes the source: as a raw string literal, which compiles faster than an array.
if(CMAKE_SCRIPT_MODE_FILE)
  file(READ "${input}" text)
  if(text MATCHES "\\)embedded\"")
    message(FATAL_ERROR "${input} contains )embedded\", the end mark of the literal that it is written into")
  endif()
  file(WRITE "${output}" "#include <string_view>\nnamespace isocloth::assets {\n"
    "extern const std::string_view ${symbol};\nconst std::string_view ${symbol} = R\"embedded(")
  file(APPEND "${output}" "${text}")
  file(APPEND "${output}" ")embedded\";\n}\n")
  return()
endif()

set(ISOCLOTH_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})
function(isocloth_embed target symbol file)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/embedded/${symbol}.cpp)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -Dinput=${file} -Doutput=${output} -Dsymbol=${symbol} -P ${ISOCLOTH_EMBED_SCRIPT}
    DEPENDS ${file} ${ISOCLOTH_EMBED_SCRIPT} COMMENT "Embedding ${symbol}" VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
