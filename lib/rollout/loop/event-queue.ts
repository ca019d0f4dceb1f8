/** Hands values from a producer that pushes to a consumer that iterates. Nothing is dropped; one consumer. */
export interface EventQueue<T> {
  push(value: T): void
  /** After the values pushed so far the iteration ends, or throws the error given. */
  end(error?: unknown): void
  /** Waits for the next value; after the end there is none. One wait at a time. */
  next(): Promise<IteratorResult<T, undefined>>
}

const DONE = { done: true, value: undefined } as const

// By hand: each value would go through two waits of a generator.
export function createEventQueue<T>(): EventQueue<T> {
  const values: T[] = []
  let state: { readonly ended: boolean; readonly error?: unknown } = { ended: false }
  let wake = () => {}
  return {
    push(value) {
      values.push(value)
      wake()
    },
    end(error) {
      state = { ended: true, error }
      wake()
    },
    async next() {
      if (values.length === 0 && !state.ended)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      if (values.length > 0) return { done: false, value: values.shift() as T }
      const { error } = state
      state = { ended: true }
      if (error !== undefined) throw error
      return DONE
    },
  }
}
