// Cloth hung from points, by catenaries and relaxation.
#pragma once

#include "engine/core/monitor.hpp"
#include "engine/models/drape/hanging_sheet.hpp"

namespace isocloth {

/// The first stage of Weil, The Synthesis of Cloth Objects, SIGGRAPH 1986: a flat convex sheet within the
/// convex hull of its hanging points, by catenaries.
///
/// - Between each pair of points hangs a catenary as long as they are apart in the cloth. Where two cross in
///   the cloth, the lower one is dropped; what stays cuts the hull into triangles. Curves that cross in one
///   point of space, as the diagonals of a square do, both stay, and hang from that point, too, so that a
///   symmetric sheet has a symmetric shape, unless there would be more than most_weil_points then. (The
///   tutorial of Karthikeyan and Ranganathan drops the lower of two diagonals and says no more.)
/// - A triangle is divided by a catenary from a corner to the middle of the opposite side, until its sides
///   are as short as the resolution or no node is left within; nodes on a curve lie at their arc length,
///   what is left by the corners' barycentric coordinates. Weil's choice of the corner is not in the sources
///   that were at hand: here it is the one opposite to the longest side, of sides of one length that one
///   opposite to the newest corner. A curve that would have to be shorter than its ends are apart is
///   straight.
/// - Weil leaves nodes outside the hull to the second stage. Here they start hanging from the nearest point
///   of the hull, straight and at a slant of 1 in 4 outwards, so that no two coincide.
///
/// Returns positions [m], shape [node_count]. Throws SceneError beginning with `key` for more than
/// most_weil_points points. Cost O(points^4 + nodes log(nodes)). Checked in
/// tests/engine/models/weil_test.cpp. Throws Interrupted when the monitor says stop.
std::vector<Vec3d> weil_catenaries(const HangingSheet& sheet, double resolution, const std::string& key,
                                   const MonitorView& monitor = {});
inline constexpr std::size_t most_weil_points = 64;

/// The second stage: every pass moves each node that does not hang by the mean of what would give the edges
/// at it their rest lengths, half of it where the other node moves, too,
///   dx_i = mean over j of w (1 - l_ij / |x_j - x_i|) (x_j - x_i), w = 1/2, or 1 where j hangs,
/// all nodes at once, so that no order of the nodes shows. With `angles` the diagonals of quads count as
/// edges, which holds the angles between threads that cross; with a least angle that of two edges of a thread
/// is held, too, as a least distance l sin(angle / 2) of their far ends (bend_pairs(), l: that at rest).
/// Returns the passes that it took. Throws Interrupted when the monitor says stop.
int relax_distances(const HangingSheet& sheet, const DrapeSettings& settings, std::vector<Vec3d>& positions,
                    const MonitorView& monitor = {});

}  // namespace isocloth
