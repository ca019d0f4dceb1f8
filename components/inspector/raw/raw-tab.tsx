'use client'
import { Banner } from '#components/ui/banner.tsx'
import type { RawText } from '#lib/analysis/raw/raw-text.ts'
import type { InspectorPartProps } from '../inspection.ts'
import { useInspectTask } from '../use-inspect-task.ts'
import { RawView } from './raw-view.tsx'

/** Shows the trajectory as the JSON file that an export writes. */
export function RawTab({ inspection }: InspectorPartProps) {
  const answer = useInspectTask(inspection, 'rawText', null)
  const text: RawText | undefined =
    answer.kind === 'done' ? answer.result : answer.kind === 'running' ? answer.before : undefined
  if (answer.kind === 'failed')
    return <Banner tone="bad" title="The file could not be written." hint={answer.error.message} />
  if (!text)
    return (
      <p className="p-4 text-faint" role="status">
        Writing the file…
      </p>
    )
  return <RawView inspection={inspection} text={text} isIdle={answer.kind === 'done'} />
}
