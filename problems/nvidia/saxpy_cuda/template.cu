//!POPCORN leaderboard saxpy_cuda
//!POPCORN gpu H200

#include "task.h"

__global__ void saxpy(float alpha, const float* x, float* y, std::int64_t size) {
    const std::int64_t at = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x;
    if (at < size) y[at] = alpha * x[at] + y[at];
}

void custom_kernel(float alpha, const float* x, float* y, std::int64_t size) {
    saxpy<<<(size + 255) / 256, 256>>>(alpha, x, y, size);
}
