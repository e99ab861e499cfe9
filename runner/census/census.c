/*
 * Counts and times every kernel that is launched while an NVTX push/pop range named custom_kernel
 * is open in this process. Loaded by NVTX through NVTX_INJECTION64_PATH; writes a table to
 * NCUBOT_CENSUS_FOLDER each time the last such range closes, so that nothing is left to do at exit,
 * where a pool's worker is killed. At most MAX_BUFFERS of records are held; what CUPTI cannot put
 * into them is counted as dropped.
 */
#define _GNU_SOURCE
#include <time.h>
#include <wchar.h>

#include <nvtx3/nvToolsExt.h>

#include "table.h"

#define RANGE "custom_kernel"
#define WIDE_RANGE L"custom_kernel"
#define FOLDER "NCUBOT_CENSUS_FOLDER"
#define BUFFER_BYTES (2u << 20)
#define HEADER_BYTES 64u
#define MAX_BUFFERS 128
#define WAITS 500
#define WAIT_US 2000

/* In front of each activity buffer. */
typedef struct Header {
    struct Header *next;
} Header;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static CUpti_SubscriberHandle subscriber;
static int working;

/* Guarded by pool_lock. No buffer is freed: CUPTI may fill one that it has handed over. */
static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
static Header *pool;
static uint32_t made_buffers, given_buffers;

/* Guarded by range_lock. */
static pthread_mutex_t range_lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t open_threads;
static uint64_t opened_at, range_ns, openings, began;

/* Depth of the default domain's stack on this thread, and at which depth the range was opened. */
static __thread uint32_t depth, opened_depth;

static uint64_t now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void give_back(Header *header) {
    pthread_mutex_lock(&pool_lock);
    header->next = pool;
    pool = header;
    given_buffers--;
    pthread_mutex_unlock(&pool_lock);
}

static Header *new_buffer(void) {
    void *memory = NULL;
    pthread_mutex_lock(&pool_lock);
    Header *header = pool;
    if (header) {
        pool = header->next;
    } else if (made_buffers < MAX_BUFFERS &&
               !posix_memalign(&memory, 4096, HEADER_BYTES + BUFFER_BYTES)) {
        header = memory;
        made_buffers++;
    }
    given_buffers += header != NULL;
    pthread_mutex_unlock(&pool_lock);
    return header;
}

static void CUPTIAPI give_buffer(uint8_t **buffer, size_t *size, size_t *most_records) {
    Header *header = new_buffer();
    *most_records = 0;
    *size = header ? BUFFER_BYTES : 0;
    *buffer = header ? (uint8_t *)header + HEADER_BYTES : NULL;
}

static void CUPTIAPI take_buffer(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
                                 size_t valid) {
    (void)size;
    if (!buffer) return;
    Header *header = (Header *)(buffer - HEADER_BYTES);
    CUpti_Activity *record = NULL;
    size_t lost = 0;
    pthread_mutex_lock(&table_lock);
    while (valid && cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS)
        if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
            count((const CUpti_ActivityKernel9 *)record);
    if (cuptiActivityGetNumDroppedRecords(context, stream, &lost) == CUPTI_SUCCESS) dropped += lost;
    pthread_mutex_unlock(&table_lock);
    give_back(header);
}

static uint32_t outstanding(void) {
    pthread_mutex_lock(&pool_lock);
    uint32_t count = given_buffers;
    pthread_mutex_unlock(&pool_lock);
    return count;
}

/* Waits, within bounds, for kernels that still run: a forced flush would lose their times. */
static void collect(void) {
    for (int i = 0; i < WAITS; i++) {
        cuptiActivityFlushAll(0);
        if (!outstanding()) return;
        usleep(WAIT_US);
    }
}

static void save(void) {
    const char *folder = getenv(FOLDER);
    char path[4096], temporary[4096];
    if (!folder || strlen(folder) > 3900) return;
    snprintf(path, sizeof path, "%s/%d.%lu.census", folder, getpid(), began);
    snprintf(temporary, sizeof temporary, "%s/%d.%lu.new", folder, getpid(), began);
    FILE *file = fopen(temporary, "wxe");
    if (!file) return;
    uint32_t held_back = outstanding();
    pthread_mutex_lock(&table_lock);
    write_table(file, range_ns, openings, held_back);
    pthread_mutex_unlock(&table_lock);
    int failed = ferror(file);
    if (fclose(file) || failed || rename(temporary, path)) unlink(temporary);
}

static void follow_launches(int on) {
    static const CUpti_CallbackId calls[] = {
        CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,   CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
        CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
        CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
        CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
        CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        cuptiEnableCallback((uint32_t)on, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, calls[i]);
}

static void start_records(void) {
    pthread_mutex_lock(&table_lock);
    int room = make_table();
    pthread_mutex_unlock(&table_lock);
    if (!room) return;
    follow_launches(1);
    cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
}

static void stop_records(void) {
    collect();
    cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    follow_launches(0);
    if (foreign_used && !outstanding()) memset(foreign, 0, FOREIGN_BITS / 8);
    foreign_used = 0;
}

static void range_opened(void) {
    pthread_mutex_lock(&range_lock);
    if (!open_threads++) {
        start_records();
        openings++;
        opened_at = now(CLOCK_MONOTONIC);
        cuptiGetTimestamp(&opened_clock);
    }
    pthread_mutex_unlock(&range_lock);
}

static void range_closed(void) {
    pthread_mutex_lock(&range_lock);
    if (!--open_threads) {
        range_ns += now(CLOCK_MONOTONIC) - opened_at;
        stop_records();
        if (entries) save();
    }
    pthread_mutex_unlock(&range_lock);
}

static int pushed(int wanted) {
    uint32_t level = depth++;
    if (wanted && !opened_depth) {
        opened_depth = depth;
        range_opened();
    }
    return (int)level;
}

static int popped(void) {
    if (!depth) return NVTX_NO_PUSH_POP_TRACKING;
    if (depth == opened_depth) {
        range_closed();
        opened_depth = 0;
    }
    return (int)--depth;
}

/* What a domain or a registered string is told apart by: the texts are of no further use. */
static const char a_domain, this_string, another_string;

static int is_range(const char *name) { return name && !strcmp(name, RANGE); }

static int is_wide_range(const wchar_t *name) { return name && !wcscmp(name, WIDE_RANGE); }

static const void *handle_of(int wanted) { return wanted ? &this_string : &another_string; }

static int names_range(const nvtxEventAttributes_t *event) {
    if (!event) return 0;
    if (event->messageType == NVTX_MESSAGE_TYPE_ASCII) return is_range(event->message.ascii);
    if (event->messageType == NVTX_MESSAGE_TYPE_UNICODE) return is_wide_range(event->message.unicode);
    return event->messageType == NVTX_MESSAGE_TYPE_REGISTERED &&
           (const void *)event->message.registered == &this_string;
}

static int push_a(const char *name) { return pushed(is_range(name)); }

static int push_w(const wchar_t *name) { return pushed(is_wide_range(name)); }

static int push_event(const nvtxEventAttributes_t *event) { return pushed(names_range(event)); }

/* Each domain has a stack of its own; no domain is the default one. */
static int push_domain(const void *domain, const nvtxEventAttributes_t *event) {
    return domain ? NVTX_NO_PUSH_POP_TRACKING : push_event(event);
}

static int pop_domain(const void *domain) {
    return domain ? NVTX_NO_PUSH_POP_TRACKING : popped();
}

static const void *make_domain(const void *name) { return name ? &a_domain : NULL; }

static const void *register_a(const void *domain, const char *name) {
    (void)domain;
    return handle_of(is_range(name));
}

static const void *register_w(const void *domain, const wchar_t *name) {
    (void)domain;
    return handle_of(is_wide_range(name));
}

static void CUPTIAPI on_launch(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                               const void *given) {
    const CUpti_CallbackData *call = given;
    (void)user, (void)domain, (void)id;
    if (call->callbackSite == CUPTI_API_ENTER && !opened_depth && foreign)
        mark_foreign(call->correlationId);
}

static void in_child(void) {
    pthread_mutex_init(&range_lock, NULL);
    pthread_mutex_init(&pool_lock, NULL);
    clear_table();
    range_ns = openings = 0;
    open_threads = opened_depth ? 1 : 0;
    began = now(CLOCK_REALTIME);
}

static void start(void) {
    began = now(CLOCK_REALTIME);
    if (cuptiActivityRegisterCallbacks(give_buffer, take_buffer) != CUPTI_SUCCESS) return;
    if (cuptiSubscribe(&subscriber, on_launch, NULL) != CUPTI_SUCCESS) return;
    working = !pthread_atfork(NULL, NULL, in_child);
}

typedef struct {
    unsigned id;
    NvtxFunctionPointer function;
} Hook;

static int install(const NvtxExportTableCallbacks *tables, NvtxCallbackModule module,
                   const Hook *hooks, size_t count) {
    NvtxFunctionTable table;
    unsigned size;
    if (!tables->GetModuleFunctionTable(module, &table, &size)) return 0;
    for (size_t i = 0; i < count; i++)
        if (hooks[i].id < size && table[hooks[i].id]) *table[hooks[i].id] = hooks[i].function;
    return 1;
}

static int install_all(const NvtxExportTableCallbacks *tables) {
    static const Hook core[] = {{NVTX_CBID_CORE_RangePushA, (NvtxFunctionPointer)push_a},
                                {NVTX_CBID_CORE_RangePushW, (NvtxFunctionPointer)push_w},
                                {NVTX_CBID_CORE_RangePushEx, (NvtxFunctionPointer)push_event},
                                {NVTX_CBID_CORE_RangePop, (NvtxFunctionPointer)popped}};
    static const Hook domains[] = {
        {NVTX_CBID_CORE2_DomainRangePushEx, (NvtxFunctionPointer)push_domain},
        {NVTX_CBID_CORE2_DomainRangePop, (NvtxFunctionPointer)pop_domain},
        {NVTX_CBID_CORE2_DomainCreateA, (NvtxFunctionPointer)make_domain},
        {NVTX_CBID_CORE2_DomainCreateW, (NvtxFunctionPointer)make_domain},
        {NVTX_CBID_CORE2_DomainRegisterStringA, (NvtxFunctionPointer)register_a},
        {NVTX_CBID_CORE2_DomainRegisterStringW, (NvtxFunctionPointer)register_w}};
    return install(tables, NVTX_CB_MODULE_CORE2, domains, sizeof domains / sizeof *domains) &&
           install(tables, NVTX_CB_MODULE_CORE, core, sizeof core / sizeof *core);
}

/*
 * Called by each copy of NVTX in the process at its first call; NVTX goes without us on 0. The
 * hooks are our own: CUPTI's miss wide pushes, whose pops they tell all the same, and crash where
 * several threads make their first call at once.
 */
__attribute__((visibility("default"))) int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get) {
    const NvtxExportTableCallbacks *tables = get ? get(NVTX_ETID_CALLBACKS) : NULL;
    if (!tables || tables->struct_size < sizeof *tables) return 0;
    pthread_once(&once, start);
    return working && install_all(tables);
}
