// All that a program needs: scenes from code or files, simulations, runs into result folders.
#pragma once

#include "engine/mesh/generators.hpp"
#include "engine/model/fabric_presets.hpp"
#include "host/gradients/tape.hpp"
#include "host/meshes/mesh_file.hpp"
#include "host/run/certificate.hpp"
#include "host/run/run_scene.hpp"
#include "host/scene/scene_file.hpp"
#include "host/simulation.hpp"
