//!POPCORN leaderboard saxpy_cuda
//!POPCORN gpu H200

#include "task.h"

// Four floats a thread, so that each load and store moves 16 bytes.
__global__ void saxpy_vec4_kernel(float alpha, const float4* x, float4* y, std::int64_t quads) {
    const std::int64_t at = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x;
    if (at >= quads) return;
    const float4 a = x[at];
    const float4 b = y[at];
    y[at] = make_float4(alpha * a.x + b.x, alpha * a.y + b.y, alpha * a.z + b.z, alpha * a.w + b.w);
}

__global__ void saxpy_tail_kernel(float alpha, const float* x, float* y, int count) {
    if (threadIdx.x < count) y[threadIdx.x] += alpha * x[threadIdx.x];
}

void custom_kernel(float alpha, const float* x, float* y, std::int64_t size) {
    const std::int64_t quads = size / 4;
    const int rest = static_cast<int>(size % 4);
    if (quads > 0) {
        saxpy_vec4_kernel<<<(quads + 255) / 256, 256>>>(
            alpha, reinterpret_cast<const float4*>(x), reinterpret_cast<float4*>(y), quads);
    }
    if (rest > 0) saxpy_tail_kernel<<<1, 32>>>(alpha, x + 4 * quads, y + 4 * quads, rest);
}
