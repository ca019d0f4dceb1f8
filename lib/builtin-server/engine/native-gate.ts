/**
 * Keeps a thread from being ended while it is inside onnxruntime, which would end the whole process: the library then throws where nobody
 * can catch it (SIGABRT, in four of six tries). So the thread reports when it is inside, and the one who ends it waits.
 */

/** Memory that the threads share: whether the gate is shut, and whether the thread is inside. */
export type NativeGate = Int32Array<SharedArrayBuffer>

const SHUT = 0
const INSIDE = 1

/** Longest wait in milliseconds. A pass takes milliseconds; anything longer, such as a download, is cut off. */
const PATIENCE_MS = 2000

/** Returns an open gate. */
export const createNativeGate = (): NativeGate => new Int32Array(new SharedArrayBuffer(8))

/** Runs an action of the engine thread inside the gate. Once the gate is shut, it never resolves. */
export async function runGuarded<T>(gate: NativeGate, action: () => Promise<T>): Promise<T> {
  Atomics.store(gate, INSIDE, 1)
  // The gate is checked only now: a thread that shuts it either is seen here, or sees that this thread is inside.
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

/** Shuts the gate from another thread; when it resolves, the engine thread may be ended. */
export async function closeGate(gate: NativeGate): Promise<void> {
  Atomics.store(gate, SHUT, 1)
  await Atomics.waitAsync(gate, INSIDE, 1, PATIENCE_MS).value
}

/** Shuts the gate while the process ends, when nothing can be awaited. */
export function shutBlocking(gate: NativeGate): void {
  Atomics.store(gate, SHUT, 1)
  Atomics.wait(gate, INSIDE, 1, PATIENCE_MS)
}
