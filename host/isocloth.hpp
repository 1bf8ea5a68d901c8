// All that a program needs: scenes from code or files, simulations, runs into result folders and their files.
#pragma once

#include "engine/material/fabric_presets.hpp"
#include "engine/mesh/generators.hpp"
#include "engine/mesh/panels.hpp"
#include "host/gradients/tape.hpp"
#include "host/meshes/mesh_file.hpp"
#include "host/results/checkpoint_file.hpp"
#include "host/results/trajectory_file.hpp"
#include "host/run/certificate.hpp"
#include "host/run/run_scene.hpp"
#include "host/scene/scene_file.hpp"
#include "host/simulation/simulation.hpp"
