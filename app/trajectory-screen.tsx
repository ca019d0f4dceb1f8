'use client'
/** One trajectory by itself: where it comes from, and what is said while it loads. */
import { useQuery } from '@tanstack/react-query'
import Link from 'next/link'
import type { ReactNode } from 'react'
import { LabelsForm } from '#components/library/labels-form.tsx'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { Heading } from '#components/ui/facts.tsx'
import { ApiError } from '#lib/client/api.ts'
import { choicesOptions } from '#lib/client/library.ts'
import { exampleOptions, trajectoryOptions } from '#lib/client/queries.ts'
import { useLibrary } from '#lib/client/use-library.ts'
import type { Trajectory } from '#lib/core/trajectory.ts'
import { Inspector } from './inspector.tsx'
import { Shell } from './shell.tsx'

/** One that is being written is read again this often; the playground follows it token by token. */
const POLL_RUNNING_MS = 2_000

export function StoredScreen({ storedKey }: { readonly storedKey: string }) {
  const { data, error } = useQuery({
    ...trajectoryOptions(storedKey),
    refetchInterval: ({ state }) => (state.data?.outcome.kind === 'running' ? POLL_RUNNING_MS : false),
  })
  const { data: choices } = useQuery(choicesOptions())
  const library = useLibrary()
  const { tags = [], title = null, note = null, reward = null } = data ?? {}
  return (
    <TrajectoryScreen
      trajectory={data}
      storedKey={storedKey}
      error={error}
      remedy={
        error instanceof ApiError &&
        error.code === 'DELETED' && <Button onClick={() => library.restore([storedKey])}>Restore</Button>
      }
      labels={
        <>
          <Heading>Labels</Heading>
          <LabelsForm
            key={storedKey}
            labels={{ title, tags, note, reward }}
            question="none"
            knownTags={choices?.tags.map(({ tag }) => tag) ?? []}
            onChange={(change) => library.label(storedKey, change)}
          />
        </>
      }
    >
      <p className="grid justify-items-start gap-1.5">
        {data?.model.tokenizer && data.model.template && (
          <Link href={`/?t=${encodeURIComponent(storedKey)}`} className="font-medium text-accent hover:underline">
            Continue in the playground
          </Link>
        )}
        {data && (
          <Link
            href={`/templates?t=${encodeURIComponent(storedKey)}`}
            className="font-medium text-accent hover:underline"
          >
            Open in the template lab
          </Link>
        )}
      </p>
    </TrajectoryScreen>
  )
}

export function ExampleScreen({ name }: { readonly name: string }) {
  const { data, error } = useQuery(exampleOptions(name))
  return (
    <TrajectoryScreen
      trajectory={data}
      storedKey={undefined}
      error={error}
      labels={
        <>
          <Heading>About</Heading>
          {data?.title !== undefined && <p className="mb-1 font-medium [overflow-wrap:anywhere]">{data.title}</p>}
          {data?.note !== undefined && <p className="text-dim text-xs [overflow-wrap:anywhere]">{data.note}</p>}
        </>
      }
    />
  )
}

interface TrajectoryScreenProps {
  readonly trajectory: Trajectory | undefined
  /** Undefined for one that is not stored. */
  readonly storedKey: string | undefined
  readonly error: Error | null
  /** Title, tags, note and reward: as text, or to be changed. */
  readonly labels: ReactNode
  /** What can be done about the error. */
  readonly remedy?: ReactNode
  /** What can be done with this one, besides looking. */
  readonly children?: ReactNode
}

function TrajectoryScreen({ trajectory, storedKey, error, labels, remedy, children }: TrajectoryScreenProps) {
  return (
    <Shell title="Trajectory" trajectory={trajectory}>
      {trajectory ? (
        <Inspector trajectory={trajectory} storedKey={storedKey} labels={labels}>
          {children}
        </Inspector>
      ) : (
        <main className="p-4">
          {error ? (
            <Banner tone="bad" title={error.message} hint={error instanceof ApiError ? error.hint : undefined}>
              {remedy}
            </Banner>
          ) : (
            <p className="text-faint" role="status">
              Loading …
            </p>
          )}
        </main>
      )}
    </Shell>
  )
}
