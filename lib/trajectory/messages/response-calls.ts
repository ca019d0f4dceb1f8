import type { ResponseView } from '../tokens/trajectory-view.ts'

/** A call that sampled tokens of a response; `start` and `end` count from the start of the segment, half-open. */
export interface ResponseCall extends Pick<ResponseView, 'request' | 'usage' | 'timing'> {
  readonly start: number
  readonly end: number
}

/** Returns the calls that sampled a response in order: one, and another for each time that it was resumed. */
export function responseCalls(response: ResponseView): readonly ResponseCall[] {
  const { request, usage, timing } = response
  const calls = [{ at: 0, request, usage, timing }, ...(response.resumed ?? [])]
  return calls.map(({ at, request, usage, timing }, index) => ({
    start: at,
    end: calls[index + 1]?.at ?? response.ids.length,
    ...(request && { request }),
    ...(usage && { usage }),
    ...(timing && { timing }),
  }))
}
