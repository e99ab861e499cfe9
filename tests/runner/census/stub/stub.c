/* A stand-in for CUPTI that a test drives: it keeps records in a buffer for each thread. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cupti.h"
#include "nvtx3/nvToolsExt.h"

#define MOST_THREADS 64

typedef struct {
    uint8_t *memory;
    size_t size, used;
} Buffer;

static Give give;
static Take take;
static OnCall on_call;
static int enabled, followed;
static uint32_t calls;
static size_t dropped;
static uint64_t clock_ns;
static Buffer *known[MOST_THREADS];
static int threads;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread Buffer mine;
static __thread int joined;

CUptiResult cuptiActivityRegisterCallbacks(Give new_give, Take new_take) {
    give = new_give;
    take = new_take;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *subscriber, OnCall new_call, void *user) {
    if (on_call) return 1;
    *subscriber = user;
    on_call = new_call;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableCallback(uint32_t on, CUpti_SubscriberHandle subscriber,
                                CUpti_CallbackDomain domain, CUpti_CallbackId id) {
    (void)subscriber, (void)id;
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API) followed = (int)on;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable(int kind) { return enabled = 1, kind == 0; }

CUptiResult cuptiActivityDisable(int kind) { return enabled = 0, kind == 0; }

static void deliver(Buffer *buffer) {
    Buffer full = *buffer;
    memset(buffer, 0, sizeof *buffer);
    if (full.memory) take(NULL, 0, full.memory, full.size, full.used);
}

CUptiResult cuptiActivityFlushAll(uint32_t flag) {
    (void)flag;
    for (int i = 0; i < threads; i++) deliver(known[i]);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, CUpti_Activity **record) {
    uint8_t *next = *record ? (uint8_t *)*record + sizeof(CUpti_ActivityKernel9) : buffer;
    if (next >= buffer + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
    *record = (CUpti_Activity *)next;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream, size_t *count) {
    (void)context, (void)stream;
    *count = dropped;
    dropped = 0;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetTimestamp(uint64_t *timestamp) { return *timestamp = clock_ns, CUPTI_SUCCESS; }

static void join(void) {
    pthread_mutex_lock(&lock);
    if (!joined && threads < MOST_THREADS) known[threads++] = &mine;
    joined = 1;
    pthread_mutex_unlock(&lock);
}

/* A kernel that takes `ns`; 0 is one that has not ended. */
void stub_launch(const char *name, int grid, int block, uint64_t ns, int in_graph) {
    size_t most;
    if (!enabled) return;
    CUpti_CallbackData data = {CUPTI_API_ENTER, ++calls};
    if (followed) on_call(NULL, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &data);
    join();
    if (mine.memory && mine.used + sizeof(CUpti_ActivityKernel9) > mine.size) deliver(&mine);
    if (!mine.memory) give(&mine.memory, &mine.size, &most);
    if (!mine.memory) {
        dropped++;
        return;
    }
    CUpti_ActivityKernel9 *kernel = (CUpti_ActivityKernel9 *)(mine.memory + mine.used);
    *kernel = (CUpti_ActivityKernel9){
        .kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, .gridX = grid, .gridY = 1, .gridZ = 1,
        .blockX = block, .blockY = 1, .blockZ = 1, .start = clock_ns,
        .end = ns ? clock_ns + ns : 0, .graphNodeId = (uint64_t)in_graph, .name = name,
        .correlationId = data.correlationId};
    mine.used += sizeof *kernel;
    clock_ns += ns;
}

static NvtxFunctionPointer core[NVTX_CBIDS], domains[NVTX_CBIDS];

static int functions(NvtxCallbackModule module, NvtxFunctionTable *table, unsigned *size) {
    static NvtxFunctionPointer *places[2][NVTX_CBIDS];
    int second = module == NVTX_CB_MODULE_CORE2;
    for (int i = 0; i < NVTX_CBIDS; i++) places[second][i] = (second ? domains : core) + i;
    *table = places[second];
    *size = NVTX_CBIDS;
    return 1;
}

const void *stub_tables(uint32_t which) {
    static const NvtxExportTableCallbacks tables = {sizeof tables, functions};
    return which == NVTX_ETID_CALLBACKS ? &tables : NULL;
}

#define CALL(table, id, result, ...) ((result(*)(__VA_ARGS__))table[id])

static const void *domain(void) {
    return CALL(domains, NVTX_CBID_CORE2_DomainCreateA, const void *, const char *)("a domain");
}

/* `kind`: a, w, e (event), u (wide event), r (registered), n (no domain), d (another domain). */
int stub_push(char kind, const char *name, const wchar_t *wide) {
    nvtxEventAttributes_t event = {.messageType = NVTX_MESSAGE_TYPE_ASCII, .message.ascii = name};
    if (kind == 'a') return CALL(core, NVTX_CBID_CORE_RangePushA, int, const char *)(name);
    if (kind == 'w') return CALL(core, NVTX_CBID_CORE_RangePushW, int, const wchar_t *)(wide);
    if (kind == 'u') event.messageType = NVTX_MESSAGE_TYPE_UNICODE, event.message.unicode = wide;
    if (kind == 'r') {
        event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
        event.message.registered = CALL(domains, NVTX_CBID_CORE2_DomainRegisterStringA,
                                        const void *, const void *, const char *)(NULL, name);
    }
    if (kind == 'd' || kind == 'n')
        return CALL(domains, NVTX_CBID_CORE2_DomainRangePushEx, int, const void *,
                    const nvtxEventAttributes_t *)(kind == 'd' ? domain() : NULL, &event);
    return CALL(core, NVTX_CBID_CORE_RangePushEx, int, const nvtxEventAttributes_t *)(&event);
}

int stub_pop(char kind) {
    if (kind == 'd' || kind == 'n')
        return CALL(domains, NVTX_CBID_CORE2_DomainRangePop, int, const void *)(
            kind == 'd' ? domain() : NULL);
    return CALL(core, NVTX_CBID_CORE_RangePop, int, void)();
}
