// The report of a run that is on disk.
#pragma once

#include <filesystem>
#include <vector>

#include "engine/model/scene.hpp"
#include "host/report/report.hpp"
#include "host/results/trajectory_file.hpp"

namespace isocloth {

/// What write_report needs, from a trajectory, which must outlive the result, and its summary. garments:
/// those of the scene, whose pins are drawn and whose corner_uvs are the material coordinates; empty does
/// without. The summary's recipe and their fabrics say which law their elements have; cloth_meets
/// (ContactSettings::cloth): driven ones are bodies. Throws ShapeError when their number is another than the
/// trajectory's.
ReportData report_from(const TrajectoryFile& trajectory, const RunSummary& summary,
                       const std::vector<Garment>& garments = {}, bool cloth_meets = false);

/// Writes report.html of a result folder of that scene from its trajectory. Throws FileError, ShapeError.
void write_folder_report(const std::filesystem::path& folder, const Scene& scene, const RunSummary& summary);

}  // namespace isocloth
