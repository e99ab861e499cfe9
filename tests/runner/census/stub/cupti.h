/* A stand-in for CUPTI's header: what the census library uses, with stub.c behind it. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#define CUPTIAPI
typedef int CUptiResult;
typedef void *CUcontext;
typedef void *CUpti_SubscriberHandle;
typedef uint32_t CUpti_CallbackId;
typedef int CUpti_CallbackDomain;
enum { CUPTI_SUCCESS = 0, CUPTI_ERROR_MAX_LIMIT_REACHED = 12 };
enum { CUPTI_CB_DOMAIN_DRIVER_API = 1 };
enum { CUPTI_API_ENTER = 0, CUPTI_API_EXIT = 1 };
enum { CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL = 10, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED = 1 };
enum {
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel = 307, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz = 442,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel = 477,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz = 478,
    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch = 514, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz = 515,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx = 652,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz = 653
};
typedef struct { int kind; } CUpti_Activity;
typedef struct {
    int kind;
    int32_t gridX, gridY, gridZ, blockX, blockY, blockZ;
    uint64_t start, end, graphNodeId;
    uint32_t correlationId;
    const char *name;
} CUpti_ActivityKernel9;
typedef struct {
    int callbackSite;
    uint32_t correlationId;
} CUpti_CallbackData;
typedef void (*Give)(uint8_t **, size_t *, size_t *);
typedef void (*Take)(CUcontext, uint32_t, uint8_t *, size_t, size_t);
typedef void (*OnCall)(void *, CUpti_CallbackDomain, CUpti_CallbackId, const void *);
CUptiResult cuptiActivityRegisterCallbacks(Give give, Take take);
CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *subscriber, OnCall on_call, void *user);
CUptiResult cuptiEnableCallback(uint32_t on, CUpti_SubscriberHandle subscriber,
                                CUpti_CallbackDomain domain, CUpti_CallbackId id);
CUptiResult cuptiActivityEnable(int kind);
CUptiResult cuptiActivityDisable(int kind);
CUptiResult cuptiActivityFlushAll(uint32_t flag);
CUptiResult cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, CUpti_Activity **record);
CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream, size_t *dropped);
CUptiResult cuptiGetTimestamp(uint64_t *timestamp);
