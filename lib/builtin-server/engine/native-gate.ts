/**
 * A thread that is ended while it is inside onnxruntime ends the whole process: the library throws where nobody can
 * catch it (SIGABRT, in four of six tries). So the thread says when it is inside, and whoever ends it waits.
 */

/** Shared between the threads: whether the gate is shut, and whether the thread is inside. */
export type NativeGate = Int32Array<SharedArrayBuffer>

const SHUT = 0
const INSIDE = 1

/** A pass takes milliseconds; what takes longer than this, a download, is better cut off than waited for. */
const PATIENCE_MS = 2000

export const createNativeGate = (): NativeGate => new Int32Array(new SharedArrayBuffer(8))

/** For the thread. Once the gate is shut, it stays before it for ever. */
export async function inside<T>(gate: NativeGate, action: () => Promise<T>): Promise<T> {
  Atomics.store(gate, INSIDE, 1)
  // Looked at after saying so: whoever shuts the gate now either is seen here or sees that somebody is inside.
  if (Atomics.load(gate, SHUT) === 1) {
    leave(gate)
    return new Promise(() => {})
  }
  try {
    return await action()
  } finally {
    leave(gate)
  }
}

function leave(gate: NativeGate): void {
  Atomics.store(gate, INSIDE, 0)
  Atomics.notify(gate, INSIDE)
}

/** For the others: when it resolves, the thread may be ended. */
export async function shut(gate: NativeGate): Promise<void> {
  Atomics.store(gate, SHUT, 1)
  await Atomics.waitAsync(gate, INSIDE, 1, PATIENCE_MS).value
}

/** The same, while the process ends: nothing can be awaited then. */
export function shutBlocking(gate: NativeGate): void {
  Atomics.store(gate, SHUT, 1)
  Atomics.wait(gate, INSIDE, 1, PATIENCE_MS)
}
