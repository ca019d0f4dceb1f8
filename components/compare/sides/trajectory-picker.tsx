'use client'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useDeferredValue, useState } from 'react'
import { TrajectoryChoice } from '#components/shell/trajectory-rows/trajectory-choice.tsx'
import { Banner } from '#components/ui/banner.tsx'
import { Choice, Choices } from '#components/ui/choices.tsx'
import { Heading } from '#components/ui/facts.tsx'
import { TextField } from '#components/ui/field.tsx'
import { FileButton } from '#components/ui/file-button.tsx'
import { visibleText } from '#components/ui/visible-text.ts'
import { exampleKey } from '#lib/analysis/compare/side.ts'
import { ApiError } from '#lib/browser/api.ts'
import { importFile } from '#lib/browser/files/opened-file.ts'
import { EXAMPLES } from '#lib/browser/library/examples.ts'
import { latestTrajectoriesOptions, trajectoriesOptions } from '#lib/browser/library/library.ts'
import { groupOptions, TRAJECTORIES } from '#lib/browser/queries.ts'

interface TrajectoryPickerProps {
  /** Called with the key of a stored trajectory or of an example. */
  readonly onChoose: (key: string) => void
  /** The other side of the comparison: the samples of its group are listed first. */
  readonly beside?: { readonly key: string; readonly groupId: string | undefined } | undefined
}

const SHOWN = 20

/** Lets the user choose a stored trajectory, an example, or a file, which is stored first. */
export function TrajectoryPicker({ beside, onChoose }: TrajectoryPickerProps) {
  const [words, setWords] = useState('')
  const q = useDeferredValue(words.trim())
  const { data, isPending } = useQuery(
    q === '' ? latestTrajectoriesOptions(SHOWN) : trajectoriesOptions({ limit: SHOWN, q }),
  )
  const { data: group } = useQuery(groupOptions(beside?.groupId))
  const others = group?.samples.filter(({ key }) => key !== beside?.key) ?? []
  const cache = useQueryClient()
  const [storing, setStoring] = useState<string>()
  const [error, setError] = useState<ApiError>()
  const open = async (file: File) => {
    setStoring(file.name)
    setError(undefined)
    try {
      const { trajectories } = await importFile(file)
      void cache.invalidateQueries({ queryKey: TRAJECTORIES })
      onChoose(trajectories[0])
    } catch (reason) {
      if (!(reason instanceof ApiError)) throw reason
      setError(reason)
    } finally {
      setStoring(undefined)
    }
  }
  return (
    <div>
      <div className="flex items-end gap-2">
        <div className="min-w-0 flex-1">
          <TextField
            label="Search in the library"
            type="search"
            placeholder="Words of the title, the question, tags, the model"
            value={words}
            onChange={(event) => setWords(event.target.value)}
            data-first-focus
          />
        </div>
        <FileButton accept=".json,.jsonl,.ndjson,application/json" label="Trajectory file" onFile={open}>
          Open file…
        </FileButton>
      </div>
      {storing !== undefined && (
        <p role="status" className="mt-2 text-faint text-xs">
          Storing {visibleText(storing)}…
        </p>
      )}
      {error && <Banner tone="bad" title={error.message} hint={error.hint} />}
      {others.length > 0 && q === '' && (
        <div className="mt-4">
          <Heading>Other samples of its group</Heading>
          <Choices>
            {others.map((row) => (
              <TrajectoryChoice key={row.key} row={row} onChoose={onChoose} />
            ))}
          </Choices>
        </div>
      )}
      <div className="mt-4">
        <Heading>{q === '' ? 'Recent' : 'Found'}</Heading>
      </div>
      {isPending && <p className="text-faint text-xs">Loading…</p>}
      {data?.trajectories.length === 0 && (
        <p className="text-faint text-xs">
          {q === '' ? 'Nothing is stored yet. Run the agent once, or open a file.' : 'No matches in the library.'}
        </p>
      )}
      <Choices>
        {data?.trajectories.map((row) => (
          <TrajectoryChoice key={row.key} row={row} onChoose={onChoose} />
        ))}
      </Choices>
      {/* Shown after the list above, which would push it down. */}
      {!isPending && q === '' && (
        <>
          <Heading>Examples</Heading>
          <Choices>
            {EXAMPLES.map(({ name, title, note }) => (
              <Choice key={name} title={title} note={note} onChoose={() => onChoose(exampleKey(name))} />
            ))}
          </Choices>
        </>
      )}
    </div>
  )
}
