/**
 * The calls of a group take turns at a server: never more at once than it runs, and fewer where it was full. One that was
 * refused waits for another of its group to end, since that is when there is room again; alone it ends as any call does.
 *
 * How much room there is, is learned: a refusal leaves as much as the others take, but at least half of what there was, for
 * one full moment can refuse many at once; each call that was answered makes room for one more.
 */
import { SglangError } from './errors.ts'

export interface Semaphore {
  /**
   * The parts of a call, made when its turn has come, and made again where the server was full before its first part.
   * `isFurther`: a run that has begun goes before those that have not.
   */
  take<Part>(call: () => AsyncIterable<Part>, isFurther: boolean, signal: AbortSignal): AsyncGenerator<Part>
}

/** `most` calls at once; undefined: as many as come, until the server refuses one. */
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

/** When a call began. */
interface Admission {
  readonly roomThen: number
  readonly number: number
  /** No other call was under way. */
  readonly wasFirst: boolean
}

interface Waiting {
  readonly isFurther: boolean
  readonly admit: (admission: Admission) => void
}

const isFull = (error: unknown): boolean => error instanceof SglangError && error.code === 'UPSTREAM_BUSY'
