'use client'
import { Plus } from 'lucide-react'
import { lazy, Suspense, useRef, useState } from 'react'
import type { Setup } from '#lib/settings/setup.ts'
import { Button } from '../ui/button.tsx'
import { CheckField } from '../ui/field.tsx'
import type { Editing } from './mock-tools.tsx'

// Loaded when there is one, or one is added: most runs have none.
const MockTools = lazy(async () => ({ default: (await import('./mock-tools.tsx')).MockTools }))

interface ToolsFieldProps extends Pick<Setup, 'tools' | 'mockTools'> {
  readonly builtIn: readonly { readonly name: string; readonly description?: string | undefined }[]
  /** The first turn has fixed them: they are shown, and cannot be changed. */
  readonly isFixed: boolean
  readonly onChange: (chosen: Pick<Setup, 'tools' | 'mockTools'>) => void
}

/** The tools of a run: those that come with the application, and the user's own mock tools. */
export function ToolsField({ tools, mockTools, builtIn, isFixed, onChange }: ToolsFieldProps) {
  const [editing, setEditing] = useState<Editing>()
  const addButton = useRef<HTMLButtonElement>(null)
  const mocked = new Set(mockTools.map(({ name }) => name))
  const unknown = tools.filter((name) => !mocked.has(name) && !builtIn.some((tool) => tool.name === name))
  const box = (name: string, note: string | undefined) => (
    <CheckField
      label={name}
      note={note}
      disabled={isFixed}
      checked={tools.includes(name)}
      onChange={(event) =>
        onChange({ mockTools, tools: event.target.checked ? [...tools, name] : tools.filter((tool) => tool !== name) })
      }
    />
  )
  return (
    <div className="grid grid-cols-[minmax(0,1fr)]">
      <div className={`grid ${isFixed ? 'opacity-60' : ''}`}>
        {builtIn.map(({ name, description }) =>
          mocked.has(name) ? (
            <p key={name} className="min-h-7 content-center text-faint text-xs">
              The built-in {name} is replaced by the mock tool of that name.
            </p>
          ) : (
            <div key={name}>{box(name, description)}</div>
          ),
        )}
        {unknown.map((name) => (
          <div key={name}>{box(name, 'not known here: it cannot be run')}</div>
        ))}
      </div>
      {(mockTools.length > 0 || editing) && (
        <Suspense>
          <MockTools
            tools={tools}
            mockTools={mockTools}
            builtIn={builtIn.map(({ name }) => name)}
            isFixed={isFixed}
            box={box}
            editing={editing}
            onEdit={setEditing}
            onChange={onChange}
            onRemoved={() => addButton.current?.focus()}
          />
        </Suspense>
      )}
      {!isFixed && (
        <Button ref={addButton} className="mt-1.5 justify-self-start" onClick={() => setEditing({ kind: 'new' })}>
          <Plus size={14} aria-hidden /> Add a mock tool
        </Button>
      )}
    </div>
  )
}
