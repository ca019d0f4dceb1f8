import { Button } from '#components/ui/button.tsx'
import { FIRST_QUESTION } from '#lib/share/settings/setup.ts'

const QUESTIONS = [FIRST_QUESTION, 'What is (25 * 17)^3?', 'Compute 12 * 7 and 81 / 9', 'What is 15% of 80?'] as const

interface PlaygroundStartProps {
  readonly isWaiting: boolean
  readonly onChoose: (question: string) => void
}

/** In the place of tokens, until there are some. */
export function PlaygroundStart({ isWaiting, onChoose }: PlaygroundStartProps) {
  if (isWaiting)
    return (
      <p className="p-6 text-faint" role="status">
        Waiting for the first tokens …
      </p>
    )
  return (
    <div className="grid place-content-center justify-items-center gap-4 overflow-y-auto p-6 text-center">
      <div className="max-w-md">
        <h2 className="font-semibold text-lg">Run an agent, see every token</h2>
        <p className="mt-1 text-dim">
          The agent runs token-in/token-out: what the model wrote goes back to it as the same ids, each with its logprob
          and its place in the loss mask.
        </p>
      </div>
      <ul className="flex flex-wrap justify-center gap-2">
        {QUESTIONS.map((question) => (
          <li key={question}>
            <Button onClick={() => onChoose(question)}>{question}</Button>
          </li>
        ))}
      </ul>
    </div>
  )
}
