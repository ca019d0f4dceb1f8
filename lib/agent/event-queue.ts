/** Hands values from a producer that pushes to a consumer that iterates. Nothing is dropped; one consumer. */
export interface EventQueue<T> extends AsyncIterable<T> {
  push(value: T): void
  /** After the values pushed so far the iteration ends, or throws the error given. */
  end(error?: unknown): void
}

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
    async *[Symbol.asyncIterator]() {
      for (;;) {
        while (values.length > 0) yield values.shift() as T
        if (state.ended) {
          if (state.error !== undefined) throw state.error
          return
        }
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    },
  }
}
