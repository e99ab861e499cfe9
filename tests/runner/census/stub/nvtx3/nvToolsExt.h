/* A stand-in for NVTX's header: what an injected tool sees of it. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <wchar.h>
enum { NVTX_MESSAGE_TYPE_ASCII = 1, NVTX_MESSAGE_TYPE_UNICODE = 2, NVTX_MESSAGE_TYPE_REGISTERED = 3 };
enum { NVTX_NO_PUSH_POP_TRACKING = -2, NVTX_ETID_CALLBACKS = 1 };
typedef enum { NVTX_CB_MODULE_CORE = 1, NVTX_CB_MODULE_CORE2 = 5 } NvtxCallbackModule;
enum {
    NVTX_CBID_CORE_RangePushEx = 8, NVTX_CBID_CORE_RangePushA = 9, NVTX_CBID_CORE_RangePushW = 10,
    NVTX_CBID_CORE_RangePop = 11,
    NVTX_CBID_CORE2_DomainRangePushEx = 4, NVTX_CBID_CORE2_DomainRangePop = 5,
    NVTX_CBID_CORE2_DomainRegisterStringA = 10, NVTX_CBID_CORE2_DomainRegisterStringW = 11,
    NVTX_CBID_CORE2_DomainCreateA = 12, NVTX_CBID_CORE2_DomainCreateW = 13,
    NVTX_CBIDS = 16
};
typedef struct {
    int32_t messageType;
    union {
        const char *ascii;
        const wchar_t *unicode;
        const void *registered;
    } message;
} nvtxEventAttributes_t;
typedef void (*NvtxFunctionPointer)(void);
typedef NvtxFunctionPointer **NvtxFunctionTable;
typedef struct {
    size_t struct_size;
    int (*GetModuleFunctionTable)(NvtxCallbackModule, NvtxFunctionTable *, unsigned *);
} NvtxExportTableCallbacks;
typedef const void *(*NvtxGetExportTableFunc_t)(uint32_t);
