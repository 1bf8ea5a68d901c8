#include "kernels/linear/multilevel.hpp"

#include <cmath>

#include "kernels/launch/launch.hpp"
#include "kernels/linear/pcg_block.hpp"

namespace isocloth::ISOCLOTH_BACKEND {
namespace {

constexpr int lanes = 8;
/// Pivots of the scaled matrix below this are rounding: about 8 eps of single precision.
constexpr float least_pivot = 1e-6F;

ISOCLOTH_HD Index larger(Index a, Index b) { return a > b ? a : b; }

/// c -= sum_k a_k b_k^T of two block rows whose scalars begin at the same column.
ISOCLOTH_HD void subtract_products(const float* a, std::size_t a_stride, const float* b, std::size_t b_stride,
                                   Index count, float* c) {
  float sums[9][lanes] = {};
  Index k = 0;
  for (; k + lanes <= count; k += lanes)
    for (int r = 0; r < 3; ++r)
      for (int s = 0; s < 3; ++s)
        for (int l = 0; l < lanes; ++l)
          sums[3 * r + s][l] += a[r * a_stride + k + l] * b[s * b_stride + k + l];
  for (int l = 0; k < count; ++k, ++l)
    for (int r = 0; r < 3; ++r)
      for (int s = 0; s < 3; ++s) sums[3 * r + s][l] += a[r * a_stride + k] * b[s * b_stride + k];
  for (int e = 0; e < 9; ++e) {
    float total = 0;
    for (int l = 0; l < lanes; ++l) total += sums[e][l];
    c[e] -= total;
  }
}

/// Lower Cholesky factor of a 3x3 block, in place; false: a bad pivot, replaced by 1.
ISOCLOTH_HD bool factorize_block(float* c) {
  bool good = true;
  for (int j = 0; j < 3; ++j) {
    float pivot = c[4 * j];
    for (int k = 0; k < j; ++k) pivot -= c[3 * j + k] * c[3 * j + k];
    if (!(pivot > least_pivot) || pivot > 1e30F) {  // not finite included
      good = false;
      pivot = 1;
    }
    c[4 * j] = std::sqrt(pivot);
    for (int i = j + 1; i < 3; ++i) {
      float v = c[3 * i + j];
      for (int k = 0; k < j; ++k) v -= c[3 * i + k] * c[3 * j + k];
      c[3 * i + j] = v / c[4 * j];
    }
    for (int i = 0; i < j; ++i) c[3 * i + j] = 0;
  }
  return good;
}

template <class Real>
struct FactorizeBody {
  FactorizeSubdomains<Real> a;

  /// Scalars of one local row of the block row.
  ISOCLOTH_DEVICE std::size_t stride(Index i) const {
    return 3 * static_cast<std::size_t>(i - a.subdomains.first[i] + 1);
  }
  ISOCLOTH_DEVICE float* entry(Index i, Index j) const {
    return a.factor.data() + a.subdomains.factor_begin[i] +
           3 * static_cast<std::size_t>(j - a.subdomains.first[i]);
  }

  ISOCLOTH_DEVICE void fill(Index i) const {
    const SubdomainsView& s = a.subdomains;
    for (std::size_t k = s.factor_begin[i]; k < s.factor_begin[i + 1]; ++k) a.factor[k] = 0;
    for (Index e = s.entry_begin[i]; e < s.entry_begin[i + 1]; ++e) {
      const Index j = s.entry_columns[e], row = s.nodes[i], column = s.nodes[j];
      const Real* block = a.values.data() + static_cast<std::size_t>(s.entry_blocks[e]) * 9;
      const Vec3<Real> u = a.scales[row], v = a.scales[column];
      const Real left[3] = {u.x, u.y, u.z}, right[3] = {v.x, v.y, v.z};
      for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c)
          entry(i, j)[r * stride(i) + c] =
              static_cast<float>(left[r] * block[row < column ? 3 * c + r : 3 * r + c] * right[c]);
    }
    for (int r = 0; r < 3; ++r) entry(i, i)[r * stride(i) + r] += a.shift;
  }

  template <class Block>
  ISOCLOTH_DEVICE void operator()(const Block& block, Index subdomain) const {
    const SubdomainsView& s = a.subdomains;
    const Index begin = s.begin[subdomain], end = s.begin[subdomain + 1];
    if (a.shift > 0 && a.failed[subdomain] < 0) return;  // the same for every thread
    for (Index i = begin + block.rank(); i < end; i += block.size()) fill(i);
    block.sync();
    if (block.rank() == 0) a.failed[subdomain] = -1;
    block.sync();
    for (Index j = begin; j < end; ++j) {
      for (Index i = j + block.rank(); i <= s.reach[j]; i += block.size()) {
        if (s.first[i] > j) continue;
        const Index k = larger(s.first[i], s.first[j]);
        float c[9];
        float* target = entry(i, j);
        for (int e = 0; e < 9; ++e) c[e] = target[(e / 3) * stride(i) + e % 3];
        subtract_products(entry(i, k), stride(i), entry(j, k), stride(j), 3 * (j - k), c);
        for (int e = 0; e < 9; ++e) target[(e / 3) * stride(i) + e % 3] = c[e];
      }
      block.sync();
      float* diagonal = entry(j, j);
      if (block.rank() == 0) {
        float c[9];
        for (int e = 0; e < 9; ++e) c[e] = diagonal[(e / 3) * stride(j) + e % 3];
        if (!factorize_block(c) && a.failed[subdomain] < 0) a.failed[subdomain] = j;
        for (int e = 0; e < 9; ++e) diagonal[(e / 3) * stride(j) + e % 3] = c[e];
      }
      block.sync();
      for (Index i = j + 1 + block.rank(); i <= s.reach[j]; i += block.size()) {
        if (s.first[i] > j) continue;
        float* row = entry(i, j);
        for (int r = 0; r < 3; ++r, row += stride(i))
          for (int c = 0; c < 3; ++c) {
            float v = row[c];
            for (int k = 0; k < c; ++k) v -= row[k] * diagonal[c * stride(j) + k];
            row[c] = v / diagonal[c * stride(j) + c];
          }
      }
      block.sync();
    }
  }
};

template <class Real>
struct SolveBody {
  SolveSubdomains<Real> a;

  /// sums[r][l] = sum over k = l, l + lanes, ... of row r times y.
  template <class Block>
  ISOCLOTH_DEVICE static void row_sums(const Block& block, const float* row, std::size_t stride,
                                       const float* y, Index count, float (*sums)[lanes]) {
    if (block.size() == 1) {  // the same sums, lanes inside: vectors
      float local[3][lanes] = {};
      Index k = 0;
      for (; k + lanes <= count; k += lanes)
        for (int r = 0; r < 3; ++r)
          for (int l = 0; l < lanes; ++l) local[r][l] += row[r * stride + k + l] * y[k + l];
      for (int l = 0; k < count; ++k, ++l)
        for (int r = 0; r < 3; ++r) local[r][l] += row[r * stride + k] * y[k];
      for (int r = 0; r < 3; ++r)
        for (int l = 0; l < lanes; ++l) sums[r][l] = local[r][l];
    } else {
      for (int item = block.rank(); item < 3 * lanes; item += block.size()) {
        const int r = item / lanes, l = item % lanes;
        float sum = 0;
        for (Index k = l; k < count; k += lanes) sum += row[r * stride + k] * y[k];
        sums[r][l] = sum;
      }
    }
  }

  template <class Block>
  ISOCLOTH_DEVICE void operator()(const Block& block, Index subdomain) const {
    const SubdomainsView& s = a.subdomains;
    const Index begin = s.begin[subdomain], end = s.begin[subdomain + 1];
    auto* sums = block.template shared<float[lanes]>();
    float* y = a.local.data();
    for (Index i = begin + block.rank(); i < end; i += block.size()) {
      const Vec3<Real> r = a.residual[s.nodes[i]], scale = a.scales[s.nodes[i]];
      const std::size_t at = 3 * static_cast<std::size_t>(i);
      y[at] = static_cast<float>(r.x * scale.x);
      y[at + 1] = static_cast<float>(r.y * scale.y);
      y[at + 2] = static_cast<float>(r.z * scale.z);
    }
    block.sync();
    for (Index i = begin; i < end; ++i) {
      const std::size_t stride = 3 * static_cast<std::size_t>(i - s.first[i] + 1);
      const float* row = a.factor.data() + s.factor_begin[i];
      const Index count = 3 * (i - s.first[i]);
      row_sums(block, row, stride, y + 3 * static_cast<std::size_t>(s.first[i]), count, sums);
      block.sync();
      if (block.rank() == 0)
        for (int r = 0; r < 3; ++r) {
          const float* diagonal = row + r * stride + count;
          float* target = y + 3 * static_cast<std::size_t>(i);
          float total = 0;
          for (int l = 0; l < lanes; ++l) total += sums[r][l];
          float v = target[r] - total;
          for (int k = 0; k < r; ++k) v -= diagonal[k] * target[k];
          target[r] = v / diagonal[r];
        }
      block.sync();
    }
    for (Index i = end - 1; i >= begin; --i) {
      const std::size_t stride = 3 * static_cast<std::size_t>(i - s.first[i] + 1);
      const float* row = a.factor.data() + s.factor_begin[i];
      const Index count = 3 * (i - s.first[i]);
      float* x = y + 3 * static_cast<std::size_t>(i);
      if (block.rank() == 0)
        for (int r = 2; r >= 0; --r) {
          float v = x[r];
          for (int k = r + 1; k < 3; ++k) v -= row[k * stride + count + r] * x[k];
          x[r] = v / row[r * stride + count + r];
        }
      block.sync();
      float* above = y + 3 * static_cast<std::size_t>(s.first[i]);
      const float x0 = x[0], x1 = x[1], x2 = x[2];
      for (Index k = block.rank(); k < count; k += block.size())
        above[k] -= row[k] * x0 + row[stride + k] * x1 + row[2 * stride + k] * x2;
      block.sync();
    }
  }
};

template <class Real>
struct SumBody {
  SumSubdomains<Real> a;
  ISOCLOTH_DEVICE void operator()(Index i) const {
    Vec3<Real> sum;
    for (Index c = a.copy_begin[i]; c < a.copy_begin[i + 1]; ++c) {
      const float* x = a.local.data() + 3 * static_cast<std::size_t>(a.copies[c]);
      sum += Vec3<Real>{static_cast<Real>(x[0]), static_cast<Real>(x[1]), static_cast<Real>(x[2])};
    }
    const Vec3<Real> scale = a.scales[i];
    a.sum[i] = {sum.x * scale.x, sum.y * scale.y, sum.z * scale.z};
  }
};

template <class Real>
struct CellProductBody {
  AssembleCellProduct<Real> a;
  ISOCLOTH_DEVICE void operator()(Index i) const {
    for (std::size_t k = static_cast<std::size_t>(a.row_begin[i]) * 9;
         k < static_cast<std::size_t>(a.row_begin[i + 1]) * 9; ++k)
      a.values[k] = 0;
    for (Index e = a.matrix.row_begin[i]; e < a.matrix.row_begin[i + 1]; ++e) {
      const Real* block = a.matrix.values.data() + static_cast<std::size_t>(a.matrix.blocks[e]) * 9;
      Real* target = a.values.data() + static_cast<std::size_t>(a.entries[e]) * 9;
      const bool transposed = a.matrix.columns[e] > i;
      for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c) target[3 * r + c] += block[transposed ? 3 * c + r : 3 * r + c];
    }
  }
};

constexpr int cell_lanes = 32;

template <class Real>
struct RestrictBody {
  RestrictToCells<Real> a;
  template <class Block>
  ISOCLOTH_DEVICE void operator()(const Block& block, Index cell) const {
    auto* sums = block.template shared<Vec3<Real>>();
    const bool plain = a.product.values.empty();
    const ArrayView<const Index> begin = plain ? a.cell_begin : a.product.cell_begin;
    for (int lane = block.rank(); lane < cell_lanes; lane += block.size()) {
      Vec3<Real> sum;
      for (Index k = begin[cell] + lane; k < begin[cell + 1]; k += cell_lanes) {
        if (plain)
          sum += a.x[a.cell_rows[k]];
        else
          sum += multiply_block(
              a.product.values.data() + static_cast<std::size_t>(a.product.cell_entries[k]) * 9, true,
              a.x[a.product.cell_rows[k]]);
      }
      sums[lane] = sum;
    }
    block.sync();
    if (block.rank() != 0) return;
    Vec3<Real> total;
    for (int lane = 0; lane < cell_lanes; ++lane) total += sums[lane];
    a.y[cell] = total;
  }
};

template <class Real>
struct SubtractBody {
  SubtractCellProduct<Real> a;
  ISOCLOTH_DEVICE void operator()(Index i) const {
    Vec3<Real> r = a.residual[i];
    for (Index e = a.product.row_begin[i]; e < a.product.row_begin[i + 1]; ++e)
      r -= multiply_block(a.product.values.data() + static_cast<std::size_t>(e) * 9, false,
                          a.coarse[a.product.cells[e]]);
    a.result[i] = r;
  }
};

template <class Real>
struct AddBody {
  AddCells<Real> a;
  ISOCLOTH_DEVICE void operator()(Index i) const {
    a.result[i] += a.before[a.cell_of[i]] - a.after[a.cell_of[i]];
  }
};

}  // namespace

template <class Real>
void factorize_subdomains(const Queue& queue, const FactorizeSubdomains<Real>& args) {
  for_each_block(queue, static_cast<Index>(args.failed.size()), 0, FactorizeBody<Real>{args});
}
template <class Real>
void solve_subdomains(const Queue& queue, const SolveSubdomains<Real>& args) {
  for_each_block(queue, static_cast<Index>(args.subdomains.begin.size()) - 1, 3 * lanes * sizeof(float),
                 SolveBody<Real>{args});
}
template <class Real>
void sum_subdomains(const Queue& queue, const SumSubdomains<Real>& args) {
  parallel_for(queue, static_cast<Index>(args.sum.size()), SumBody<Real>{args});
}
template <class Real>
void assemble_cell_product(const Queue& queue, const AssembleCellProduct<Real>& args) {
  parallel_for(queue, static_cast<Index>(args.row_begin.size()) - 1, CellProductBody<Real>{args});
}
template <class Real>
void restrict_to_cells(const Queue& queue, const RestrictToCells<Real>& args) {
  for_each_block(queue, static_cast<Index>(args.y.size()), cell_lanes * sizeof(Vec3<Real>),
                 RestrictBody<Real>{args});
}
template <class Real>
void subtract_cell_product(const Queue& queue, const SubtractCellProduct<Real>& args) {
  parallel_for(queue, static_cast<Index>(args.result.size()), SubtractBody<Real>{args});
}
template <class Real>
void add_cells(const Queue& queue, const AddCells<Real>& args) {
  parallel_for(queue, static_cast<Index>(args.result.size()), AddBody<Real>{args});
}

template void factorize_subdomains<float>(const Queue&, const FactorizeSubdomains<float>&);
template void factorize_subdomains<double>(const Queue&, const FactorizeSubdomains<double>&);
template void solve_subdomains<float>(const Queue&, const SolveSubdomains<float>&);
template void solve_subdomains<double>(const Queue&, const SolveSubdomains<double>&);
template void sum_subdomains<float>(const Queue&, const SumSubdomains<float>&);
template void sum_subdomains<double>(const Queue&, const SumSubdomains<double>&);
template void assemble_cell_product<float>(const Queue&, const AssembleCellProduct<float>&);
template void assemble_cell_product<double>(const Queue&, const AssembleCellProduct<double>&);
template void restrict_to_cells<float>(const Queue&, const RestrictToCells<float>&);
template void restrict_to_cells<double>(const Queue&, const RestrictToCells<double>&);
template void subtract_cell_product<float>(const Queue&, const SubtractCellProduct<float>&);
template void subtract_cell_product<double>(const Queue&, const SubtractCellProduct<double>&);
template void add_cells<float>(const Queue&, const AddCells<float>&);
template void add_cells<double>(const Queue&, const AddCells<double>&);

}  // namespace isocloth::ISOCLOTH_BACKEND
