/** The store cannot be used, or something in it cannot be read; the message is for people. */
export class StoreError extends Error {
  override readonly name = 'StoreError'
}
