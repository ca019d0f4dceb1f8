'use client'
import { CopyChoices } from '#components/ui/copy-button.tsx'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { runCode } from './run-code.ts'

interface CopyRunProps {
  readonly trajectory: TrajectoryView
  /** Address of the server that it ran on; undefined if it is unknown here. */
  readonly baseUrl?: string | undefined
}

/** Shows buttons that copy the whole run as a program. */
export const CopyRun = ({ trajectory, baseUrl }: CopyRunProps) => (
  <CopyChoices
    choices={[
      { name: 'as Python script', text: () => runCode(trajectory, baseUrl)?.python ?? '' },
      { name: 'as cURL', text: () => runCode(trajectory, baseUrl)?.curl ?? '' },
    ]}
  />
)
