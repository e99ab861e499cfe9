// Programs whose kernels are counted: each case is a way of launching inside and outside a range.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <cuda.h>
#include <nvtx3/nvToolsExt.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(call) \
    if ((call) != 0) { std::fprintf(stderr, "%s failed\n", #call); std::exit(3); }

__global__ void alpha(float *x) { x[threadIdx.x] += 1.0f; }

__global__ void beta(float *x, int rounds) {
    for (int i = 0; i < rounds; i++) x[threadIdx.x] = x[threadIdx.x] * 0.5f + 1.0f;
}

template <int N> __global__ void scaled(float *x) { x[threadIdx.x] *= N; }

static float *memory;

static void begin() { CHECK(cudaMalloc(&memory, 1 << 20)); }
static void settle() { CHECK(cudaDeviceSynchronize()); }
static void alphas(int count) { for (int i = 0; i < count; i++) alpha<<<1, 32>>>(memory); }
static void betas(int count, int rounds) {
    for (int i = 0; i < count; i++) beta<<<2, 64>>>(memory, rounds);
}

template <typename Body> static void range(Body body) {
    nvtxRangePushA("custom_kernel");
    body();
    settle();
    nvtxRangePop();
}

static void plain(int) {
    alphas(5);
    settle();
    cudaStream_t other;
    CHECK(cudaStreamCreate(&other));
    range([&] {
        for (int i = 0; i < 10; i++) {
            alphas(2);
            betas(1, 2000);
            if (i < 8) scaled<1><<<1, 32>>>(memory);
            if (i < 6) scaled<2><<<3, 32, 0, other>>>(memory);
        }
    });
    alphas(5);
    settle();
}

static void streams(int) {
    cudaStream_t one, two;
    CHECK(cudaStreamCreate(&one));
    CHECK(cudaStreamCreate(&two));
    range([&] {
        for (int i = 0; i < 10; i++) {
            alpha<<<1, 32, 0, one>>>(memory);
            alpha<<<1 + i, 32, 0, two>>>(memory);
        }
    });
}

static void thread(int) {
    range([] {
        alphas(3);
        std::thread([] { betas(7, 10); settle(); }).join();
        alphas(2);
    });
}

static void many_threads() {
    std::vector<std::thread> all;
    for (int i = 0; i < 4; i++)
        all.emplace_back([] {
            range([] {
                alphas(100);
                std::thread([] { betas(50, 10); settle(); }).join();
            });
        });
    for (auto &one : all) one.join();
}

static void threads(int first) {
    if (first == 1) range([] { alphas(1); });
    if (first == 2) range([] { many_threads(); });
    else many_threads();
}

static void graph(int) {
    cudaStream_t stream;
    cudaGraph_t made;
    cudaGraphExec_t ready;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    alpha<<<1, 32, 0, stream>>>(memory);
    beta<<<2, 64, 0, stream>>>(memory, 10);
    alpha<<<1, 32, 0, stream>>>(memory);
    CHECK(cudaStreamEndCapture(stream, &made));
    CHECK(cudaGraphInstantiate(&ready, made, 0));
    CHECK(cudaGraphLaunch(ready, stream));
    CHECK(cudaStreamSynchronize(stream));
    range([&] { for (int i = 0; i < 4; i++) CHECK(cudaGraphLaunch(ready, stream)); });
}

static void nested(int) {
    range([] {
        alphas(1);
        nvtxRangePushA("inner");
        alphas(1);
        range([] { betas(3, 10); });
        alphas(1);
        nvtxRangePop();
        alphas(1);
    });
    betas(9, 10);
    settle();
    nvtxRangePushA("outer");
    range([] { alphas(2); });
    betas(9, 10);
    nvtxRangePop();
    settle();
}

static void twice(int) {
    range([] { alphas(3); });
    betas(5, 10);
    settle();
    range([] { alphas(4); });
}

static void pushed(nvtxEventAttributes_t &event, nvtxMessageType_t type) {
    event.messageType = type;
    nvtxRangePushEx(&event);
    alpha<<<1 + type, 32>>>(memory);
    settle();
    nvtxRangePop();
}

static void variants(int) {
    nvtxEventAttributes_t event = {};
    event.version = NVTX_VERSION;
    event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    event.message.ascii = "custom_kernel";
    pushed(event, NVTX_MESSAGE_TYPE_ASCII);
    nvtxRangePushW(L"custom_kernel");
    alpha<<<8, 32>>>(memory);
    settle();
    nvtxRangePop();
    event.message.unicode = L"custom_kernel";
    pushed(event, NVTX_MESSAGE_TYPE_UNICODE);
    event.message.registered = nvtxDomainRegisterStringA(nullptr, "custom_kernel");
    pushed(event, NVTX_MESSAGE_TYPE_REGISTERED);
    nvtxDomainRangePushEx(nullptr, &event);
    alpha<<<9, 32>>>(memory);
    settle();
    nvtxDomainRangePop(nullptr);
    nvtxDomainHandle_t domain = nvtxDomainCreateA("other");
    event.message.ascii = "custom_kernel";
    event.messageType = NVTX_MESSAGE_TYPE_ASCII;
    nvtxDomainRangePushEx(domain, &event);
    betas(1, 10);
    settle();
    nvtxDomainRangePop(domain);
    nvtxRangePushA("custom_kernel_2");
    betas(1, 10);
    settle();
    nvtxRangePop();
}

static void launches(int count) {
    range([count] { alphas(count); });
}

static void shapes(int count) {
    range([count] { for (int i = 1; i <= count; i++) alpha<<<i, 32>>>(memory); });
}

static std::string entry(const std::string &name) {
    return ".visible .entry " + name + "() { ret; }\n";
}

static void run(const std::vector<std::string> &names) {
    std::string code = ".version 7.0\n.target sm_50\n.address_size 64\n";
    for (const auto &name : names) code += entry(name);
    CUmodule module;
    CHECK(cuModuleLoadData(&module, code.c_str()));
    std::vector<CUfunction> all(names.size());
    for (size_t i = 0; i < names.size(); i++)
        CHECK(cuModuleGetFunction(&all[i], module, names[i].c_str()));
    range([&] {
        for (auto one : all) CHECK(cuLaunchKernel(one, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
    });
}

static void odd(int) { run({"odd$name", "odd$name$", "oddXname", "$odd"}); }

static void names(int count) {
    for (int at = 0; at < count; at += 1000) {
        std::vector<std::string> some;
        for (int i = at; i < at + 1000 && i < count; i++) some.push_back("k" + std::to_string(i));
        run(some);
    }
}

static void processes(int count) {
    for (int i = 1; i <= count; i++)
        if (!fork()) {
            begin();
            range([i] { alphas(10 * i); });
            _exit(0);
        }
    while (wait(nullptr) > 0) {}
}

static void timed(int count) {
    for (int pair = 0; pair < 6; pair++)
        for (const char *name : {"idle", "custom_kernel"}) {
            timespec from, to;
            settle();
            nvtxRangePushA(name);
            clock_gettime(CLOCK_MONOTONIC, &from);
            alphas(count);
            settle();
            clock_gettime(CLOCK_MONOTONIC, &to);
            nvtxRangePop();
            std::printf("%s %f\n", name, to.tv_sec - from.tv_sec + 1e-9 * (to.tv_nsec - from.tv_nsec));
        }
}

int main(int count, char **words) {
    struct { const char *name; void (*body)(int); bool cuda; } cases[] = {
        {"plain", plain, true}, {"streams", streams, true}, {"thread", thread, true}, {"threads", threads, true},
        {"graph", graph, true}, {"nested", nested, true}, {"twice", twice, true},
        {"variants", variants, true}, {"launches", launches, true}, {"shapes", shapes, true},
        {"odd", odd, true}, {"names", names, true}, {"processes", processes, false},
        {"timed", timed, true}};
    for (const auto &one : cases)
        if (count > 1 && !std::strcmp(one.name, words[1])) {
            if (one.cuda) begin();
            one.body(count > 2 ? std::atoi(words[2]) : 0);
            std::puts("done");
            return 0;
        }
    return 2;
}
