/*
 * The rest of libhsakmt's interface. Functions without a meaning on this device return the documented error
 * status, so that programs which link them load and run.
 */
#include "softgpu/device/symbols.h"
#include "softgpu/thunk/thunk_priv.h"

EXPORT HSAKMT_STATUS hsaKmtRuntimeEnable(void *rDebug, bool setupTtmp)
{
	/* The code objects that are loaded: faults are reported with their names. */
	sg_symbols_set_list(rDebug);
	/* Success would select the debugger's protocol for errors, and ROCr would drop ours. */
	return HSAKMT_STATUS_NOT_SUPPORTED;
}

EXPORT HSAKMT_STATUS hsaKmtRuntimeDisable(void)
{
	return HSAKMT_STATUS_SUCCESS;
}

EXPORT HSAKMT_STATUS hsaKmtSetTrapHandler(HSAuint32 NodeId, void *TrapHandlerBaseAddress,
					  HSAuint64 TrapHandlerSizeInBytes,
					  void *TrapBufferBaseAddress,
					  HSAuint64 TrapBufferSizeInBytes)
{
	THUNK_OR_RETURN(thunk);
	/* Traps end at the device itself, which reports what the handler would. */
	return thunk_is_gpu(thunk, NodeId) ? HSAKMT_STATUS_SUCCESS
					   : HSAKMT_STATUS_INVALID_NODE_UNIT;
}

EXPORT HSAKMT_STATUS hsaKmtGetKernelDebugTrapVersionInfo(HSAuint32 *Major, HSAuint32 *Minor)
{
	return HSAKMT_STATUS_NOT_SUPPORTED;
}

#define REFUSE(name, ...)                                                                          \
	EXPORT HSAKMT_STATUS name(__VA_ARGS__)                                                     \
	{                                                                                          \
		return HSAKMT_STATUS_NOT_SUPPORTED;                                                \
	}

REFUSE(hsaKmtSetMemoryPolicy, HSAuint32 Node, HSAuint32 DefaultPolicy, HSAuint32 AlternatePolicy,
       void *MemoryAddressAlternate, HSAuint64 MemorySizeInBytes)
REFUSE(hsaKmtRegisterGraphicsHandleToNodes, HSAuint64 GraphicsResourceHandle,
       HsaGraphicsResourceInfo *GraphicsResourceInfo, HSAuint64 NumberOfNodes, HSAuint32 *NodeArray)
REFUSE(hsaKmtMapGraphicHandle, HSAuint32 NodeId, HSAuint64 GraphicDeviceHandle,
       HSAuint64 GraphicResourceHandle, HSAuint64 GraphicResourceOffset,
       HSAuint64 GraphicResourceSize, HSAuint64 *FlatMemoryAddress)
REFUSE(hsaKmtUnmapGraphicHandle, HSAuint32 NodeId, HSAuint64 FlatMemoryAddress,
       HSAuint64 SizeInBytes)
REFUSE(hsaKmtDbgRegister, HSAuint32 NodeId)
REFUSE(hsaKmtDbgUnregister, HSAuint32 NodeId)
REFUSE(hsaKmtDbgWavefrontControl, HSAuint32 NodeId, HSA_DBG_WAVEOP Operand, HSA_DBG_WAVEMODE Mode,
       HSAuint32 TrapId, HsaDbgWaveMessage *DbgWaveMsgRing)
REFUSE(hsaKmtDbgAddressWatch, HSAuint32 NodeId, HSAuint32 NumWatchPoints,
       HSA_DBG_WATCH_MODE WatchMode[], void *WatchAddress[], HSAuint64 WatchMask[],
       HsaEvent *WatchEvent[])
REFUSE(hsaKmtPmcGetCounterProperties, HSAuint32 NodeId, HsaCounterProperties **CounterProperties)
REFUSE(hsaKmtPmcRegisterTrace, HSAuint32 NodeId, HSAuint32 NumberOfCounters, HsaCounter *Counters,
       HsaPmcTraceRoot *TraceRoot)
REFUSE(hsaKmtPmcUnregisterTrace, HSAuint32 NodeId, HSATraceId TraceId)
REFUSE(hsaKmtPmcAcquireTraceAccess, HSAuint32 NodeId, HSATraceId TraceId)
REFUSE(hsaKmtPmcReleaseTraceAccess, HSAuint32 NodeId, HSATraceId TraceId)
REFUSE(hsaKmtPmcStartTrace, HSATraceId TraceId, void *TraceBuffer, HSAuint64 TraceBufferSizeBytes)
REFUSE(hsaKmtPmcQueryTrace, HSATraceId TraceId)
REFUSE(hsaKmtPmcStopTrace, HSATraceId TraceId)
REFUSE(hsaKmtSPMAcquire, HSAuint32 PreferredNode)
REFUSE(hsaKmtSPMRelease, HSAuint32 PreferredNode)
REFUSE(hsaKmtSPMSetDestBuffer, HSAuint32 PreferredNode, HSAuint32 SizeInBytes, HSAuint32 *timeout,
       HSAuint32 *SizeCopied, void *DestMemoryAddress, bool *isSPMDataLoss)
