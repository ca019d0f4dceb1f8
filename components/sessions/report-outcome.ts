import { errorText } from '#lib/util/text/error-text.ts'

/** Runs an action and reports the message that it returns, or why it failed. An empty message is not reported. */
export async function reportOutcome(action: () => Promise<string>, report: (message: string) => void): Promise<void> {
  try {
    const message = await action()
    if (message !== '') report(message)
  } catch (error) {
    report(errorText(error))
  }
}
