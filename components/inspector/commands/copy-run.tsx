'use client'
import { CopyChoices } from '#components/ui/copy-choices.tsx'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { runCode } from './run-code.ts'

interface CopyRunProps {
  readonly trajectory: TrajectoryView
  /** Of the server that it ran on; undefined where that is not known here. */
  readonly baseUrl?: string | undefined
}

/** The whole run as a program, for who goes on elsewhere. */
export const CopyRun = ({ trajectory, baseUrl }: CopyRunProps) => (
  <CopyChoices
    choices={[
      { name: 'as Python script', text: () => runCode(trajectory, baseUrl)?.python ?? '' },
      { name: 'as cURL', text: () => runCode(trajectory, baseUrl)?.curl ?? '' },
    ]}
  />
)
