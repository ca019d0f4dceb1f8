/** A pool of interpreters for runs: a limited number at a time, one of them started ahead. Further runs wait. */
import type { Interpreter } from './interpreter.ts'

/** Gives interpreters to runs. */
export interface InterpreterPool {
  /** Returns a seat for one run, in order of arrival. Rejects with the signal's reason if that comes first. */
  sit(signal: AbortSignal): Promise<InterpreterLease>
  /** Ends all interpreters. */
  close(): void
}

/** The right of one run to an interpreter. */
export interface InterpreterLease {
  /** Returns its interpreter, or a new one if the last has ended. Rejects with InterpreterError if none starts. */
  interpreter(): Promise<Interpreter>
  /** Ends its interpreter, and gives the seat to the next run. */
  leave(): void
}

/** The largest number of interpreters; each process takes 100 to 400 MB. */
const MOST = 4

/** Time for which an interpreter that was started ahead is kept. */
const SPARE_MS = 60_000

interface Starting {
  readonly interpreter: Promise<Interpreter>
  end(): void
}

/** Creates a pool for at most `most` runs at a time. `start` starts an interpreter. */
export function createPool(start: (signal: AbortSignal) => Promise<Interpreter>, most = MOST): InterpreterPool {
  const closing = new AbortController()
  const queue = new Set<() => void>()
  let seats = 0
  let spare: (Starting & { readonly timer: NodeJS.Timeout }) | undefined

  const begin = (): Starting => {
    const controller = new AbortController()
    const interpreter = start(controller.signal)
    // The caller that awaits it gets the error.
    interpreter.catch(() => {})
    const end = () => {
      closing.signal.removeEventListener('abort', end)
      controller.abort()
      interpreter.then(
        (started) => started.end(),
        () => {},
      )
    }
    closing.signal.addEventListener('abort', end)
    return { interpreter, end }
  }
  const takeSpare = (): Starting | undefined => {
    const taken = spare
    clearTimeout(taken?.timer)
    spare = undefined
    return taken
  }
  const warm = (): void => {
    if (spare || seats >= most || closing.signal.aborted) return
    const spareStart = begin()
    spare = { ...spareStart, timer: setTimeout(() => takeSpare()?.end(), SPARE_MS).unref() }
    spareStart.interpreter.catch(() => spare?.interpreter === spareStart.interpreter && takeSpare())
  }
  const newSeat = (): InterpreterLease => {
    let own = takeSpare() ?? begin()
    let isLeft = false
    // Starts are sequential, because two at once would take twice as long.
    own.interpreter.then(warm, () => {})
    return {
      async interpreter() {
        const interpreter = await own.interpreter.catch(() => undefined)
        if (interpreter && !interpreter.isOver()) return interpreter
        if (isLeft) throw new Error('the run has already released its interpreter')
        own = takeSpare() ?? begin()
        return own.interpreter
      },
      leave() {
        if (isLeft) return
        isLeft = true
        own.end()
        const [next] = queue
        // The seat stays occupied, because a run that arrives before the next one sits down would take it too.
        if (next) next()
        else seats--
      },
    }
  }
  return {
    async sit(signal) {
      signal.throwIfAborted()
      if (seats >= most) await turn(queue, signal)
      else seats++
      return newSeat()
    },
    close() {
      closing.abort()
      takeSpare()?.end()
    },
  }
}

/** Waits in the queue. Resolves when a leaving run hands its seat over; rejects with the signal's reason. */
function turn(queue: Set<() => void>, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const called = () => {
    queue.delete(called)
    resolve()
  }
  queue.add(called)
  const leave = () => {
    queue.delete(called)
    reject(signal.reason)
  }
  signal.addEventListener('abort', leave, { once: true })
  return promise.finally(() => signal.removeEventListener('abort', leave))
}
