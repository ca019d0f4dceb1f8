'use client'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useDeferredValue, useState } from 'react'
import { titleText, whenText } from '#components/library/row-texts.ts'
import { countText } from '#components/trajectory/numbers.ts'
import { Banner } from '#components/ui/banner.tsx'
import { Choice, Choices } from '#components/ui/choices.tsx'
import { Heading } from '#components/ui/facts.tsx'
import { TextField } from '#components/ui/field.tsx'
import { FileButton } from '#components/ui/file-button.tsx'
import { ApiError } from '#lib/client/api.ts'
import { trajectoriesOptions } from '#lib/client/library.ts'
import { importFile } from '#lib/client/opened-file.ts'
import { TRAJECTORIES } from '#lib/client/queries.ts'
import { exampleKey } from '#lib/compare/side.ts'
import { EXAMPLES } from './examples.ts'

interface TrajectoryPickerProps {
  /** The key of a stored one, or of an example. */
  readonly onChoose: (key: string) => void
}

const SHOWN = 20

/** A stored trajectory, an example, or a file, which is stored first. */
export function TrajectoryPicker({ onChoose }: TrajectoryPickerProps) {
  const [words, setWords] = useState('')
  const q = useDeferredValue(words.trim())
  const { data } = useQuery(trajectoriesOptions({ limit: SHOWN, ...(q !== '' && { q }) }))
  const cache = useQueryClient()
  const [storing, setStoring] = useState<string>()
  const [error, setError] = useState<ApiError>()
  const open = async (file: File) => {
    setStoring(file.name)
    setError(undefined)
    try {
      const { trajectories } = await importFile(file)
      cache.invalidateQueries({ queryKey: TRAJECTORIES })
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
          Open file …
        </FileButton>
      </div>
      {storing !== undefined && (
        <p role="status" className="mt-2 text-faint text-xs">
          Storing {storing} …
        </p>
      )}
      {error && <Banner tone="bad" title={error.message} hint={error.hint} />}
      <div className="mt-4">
        <Heading>{q === '' ? 'Recent' : 'Found'}</Heading>
      </div>
      {!data && <p className="text-faint text-xs">Loading …</p>}
      {data?.trajectories.length === 0 && (
        <p className="text-faint text-xs">
          {q === ''
            ? 'Nothing is stored yet: run the agent once, or open a file.'
            : 'Nothing in the library has these words.'}
        </p>
      )}
      <Choices>
        {data?.trajectories.map((row) => (
          <Choice
            key={row.key}
            title={titleText(row)}
            note={`${whenText(row.createdAt, new Date())} · ${countText(row.tokens)} tokens${row.model === null ? '' : ` · ${row.model}`}`}
            onChoose={() => onChoose(row.key)}
          />
        ))}
      </Choices>
      {q === '' && (
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
