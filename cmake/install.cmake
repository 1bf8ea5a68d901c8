# cmake --install: the command, the library with its public headers, the plugin, scenes and fabrics, and find_package(isocloth).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(isocloth_config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/isocloth)

set_target_properties(isocloth PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
file(RELATIVE_PATH bin_to_lib /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
set_target_properties(isocloth_command PROPERTIES INSTALL_RPATH $ORIGIN/${bin_to_lib})

install(TARGETS isocloth EXPORT isocloth INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/isocloth)
install(TARGETS isocloth_command)
if(TARGET isocloth_cuda)
  install(TARGETS isocloth_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
# Public: plain data, the public class, and the files that need no other library's header.
set(left_out)
if(NOT ISOCLOTH_MODELS)
  set(left_out PATTERN engine/models EXCLUDE)
endif()
install(DIRECTORY engine DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/isocloth FILES_MATCHING PATTERN *.hpp ${left_out})
# Those of the host by name: host/isocloth.hpp and all that it includes, and what a kept step and its energies are.
foreach(header isocloth energy/energy_balance energy/energy_sums files/file_access gradients/tape meshes/mesh_file
    projection/step_gradient results/checkpoint_file results/metric_columns results/result_options results/run_record
    results/trajectory_file results/trajectory_layout run/certificate run/equilibrium_search run/run_scene scene/scene_file
    simulation/simulation state/advance_report state/execution_options state/garment_field state/garment_state
    state/step_record state/measures state/node_force state/quantity state/step_report state/strain)
  cmake_path(GET header PARENT_PATH folder)
  install(FILES host/${header}.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/isocloth/host/${folder})
endforeach()
install(DIRECTORY bench/scenes bench/fabrics DESTINATION ${CMAKE_INSTALL_DATADIR}/isocloth)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

install(EXPORT isocloth FILE isoclothTargets.cmake NAMESPACE isocloth:: DESTINATION ${isocloth_config_dir})
get_target_property(isocloth_library_type isocloth TYPE)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/isoclothConfig.cmake.in ${CMAKE_BINARY_DIR}/isoclothConfig.cmake
  INSTALL_DESTINATION ${isocloth_config_dir} NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/isoclothConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/isoclothConfig.cmake ${CMAKE_BINARY_DIR}/isoclothConfigVersion.cmake
  DESTINATION ${isocloth_config_dir})
