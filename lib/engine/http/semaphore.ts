/**
 * Limits how many calls of a group a server has at once: never more than it runs, and fewer after it was full. A
 * refused call waits until another call of its group ends, since there is room again; a refused call that runs alone
 * fails. The limit is learned: a refusal sets it to what the others use, but at least to half of what it was, because
 * one full moment can refuse many calls; each answered call raises it by one.
 */
import { EngineError } from './errors.ts'

/** Limits concurrent calls to a server. */
export interface Semaphore {
  /**
   * Yields the parts of a call, which is sent when a slot is free and again if the server was full before its first
   * part. `isFurther`: a run that has begun goes before those that have not.
   */
  take<Part>(call: () => AsyncIterable<Part>, isFurther: boolean, signal: AbortSignal): AsyncGenerator<Part>
}

/** Creates a semaphore for `most` calls at once; undefined: no limit until the server refuses one. */
export function createSemaphore(most = Number.POSITIVE_INFINITY): Semaphore {
  let room = most
  let active = 0
  let peak = 0
  let admissions = 0
  const waiting: Waiting[] = []
  const admit = () => {
    while (active < room && waiting.length > 0) {
      active++
      peak = Math.max(peak, active)
      waiting.shift()?.admit({ roomThen: room, number: ++admissions, wasFirst: active === 1 })
    }
  }
  const enter = async (isFurther: boolean, signal: AbortSignal): Promise<Admission> => {
    signal.throwIfAborted()
    const admitted = Promise.withResolvers<Admission>()
    const own: Waiting = { isFurther, admit: admitted.resolve }
    const behind = isFurther ? waiting.findIndex((other) => !other.isFurther) : -1
    waiting.splice(behind < 0 ? waiting.length : behind, 0, own)
    const leave = () => {
      const place = waiting.indexOf(own)
      if (place < 0) return
      waiting.splice(place, 1)
      admitted.reject(signal.reason)
    }
    signal.addEventListener('abort', leave)
    admit()
    return await admitted.promise.finally(() => signal.removeEventListener('abort', leave))
  }
  const isAlone = ({ wasFirst, number }: Admission): boolean => wasFirst && number === admissions
  return {
    async *take(call, isFurther, signal) {
      for (let isAgain = isFurther; ; isAgain = true) {
        const admission = await enter(isAgain, signal)
        let isAnswered = false
        try {
          for await (const part of call()) {
            isAnswered = true
            yield part
          }
          return
        } catch (error) {
          if (isAnswered || !isFull(error) || isAlone(admission)) throw error
          const half = Math.ceil(Math.min(admission.roomThen, peak) / 2)
          room = Math.min(room, Math.max(active - 1, half))
        } finally {
          active--
          if (isAnswered) room = Math.min(most, room + 1)
          admit()
        }
      }
    },
  }
}

/** The state of the semaphore when a call began. */
interface Admission {
  readonly roomThen: number
  readonly number: number
  /** True if no other call was running. */
  readonly wasFirst: boolean
}

interface Waiting {
  readonly isFurther: boolean
  readonly admit: (admission: Admission) => void
}

const isFull = (error: unknown): boolean => error instanceof EngineError && error.code === 'UPSTREAM_BUSY'
