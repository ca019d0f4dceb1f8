'use client'
import { Plus } from 'lucide-react'
import { type ReactNode, Suspense, useRef, useState } from 'react'
import { lazyCode } from '#components/shell/lazy-code.ts'
import { Button } from '#components/ui/button.tsx'
import { CheckField } from '#components/ui/field.tsx'
import type { Setup } from '#lib/share/settings/setup.ts'
import type { EditedTool } from './mock-tools.tsx'

// Loaded if there is a mock tool or one is added, because most runs have none.
const MockTools = lazyCode(async () => (await import('./mock-tools.tsx')).MockTools)

const ToolImportDialog = lazyCode(async () => (await import('../tools/tool-import-dialog.tsx')).ToolImportDialog)

/** The built-in tools with the first sentences of their descriptions, which the form shows until the server has reported them. */
export const BUILT_IN_TOOLS = [
  { name: 'calculator', description: 'Evaluate an arithmetic expression.' },
  { name: 'python', description: 'Run Python 3.14: the standard library, no network, no files of the host.' },
]

type ToolChoice = Pick<Setup, 'tools' | 'mockTools' | 'mcpTools'>

interface ToolsFieldProps extends ToolChoice {
  readonly builtIn: readonly {
    readonly name: string
    readonly description?: string | undefined
    /** Why the tool cannot be used on the server's machine; undefined if it can. */
    readonly off?: string | undefined
  }[]
  /** Whether the first turn has fixed the tools: they are shown and cannot be changed. */
  readonly isFixed: boolean
  readonly onChange: (chosen: Partial<ToolChoice>) => void
  /** Button that opens the tools of MCP servers. */
  readonly mcpServers: ReactNode
}

/** The tools of a run: those that come with Rollscope, and the user's own mock tools. */
export function ToolsField({ tools, mockTools, mcpTools, builtIn, isFixed, onChange, mcpServers }: ToolsFieldProps) {
  const [editing, setEditing] = useState<EditedTool>()
  const [isImporting, setIsImporting] = useState(false)
  const addButton = useRef<HTMLButtonElement>(null)
  const mocked = new Set(mockTools.map(({ name }) => name))
  const known = new Set([...mockTools, ...mcpTools, ...builtIn].map(({ name }) => name))
  const unknown = tools.filter((name) => !known.has(name))
  const box = (name: string, note: string | undefined, isOff = false) => (
    <CheckField
      label={name}
      note={note}
      // A tool that was chosen before it was switched off can still be removed.
      disabled={isFixed || (isOff && !tools.includes(name))}
      checked={tools.includes(name)}
      onChange={(event) =>
        onChange({ tools: event.target.checked ? [...tools, name] : tools.filter((tool) => tool !== name) })
      }
    />
  )
  return (
    <div className="grid grid-cols-[minmax(0,1fr)]">
      <div className={isFixed ? 'opacity-60' : ''}>
        {builtIn.map(({ name, description, off }) =>
          mocked.has(name) ? (
            <p key={name} className="min-h-7 content-center text-faint text-xs">
              The built-in {name} is replaced by the mock tool of that name.
            </p>
          ) : (
            <div key={name}>{box(name, off === undefined ? gist(description) : `off: ${off}`, off !== undefined)}</div>
          ),
        )}
        {mcpTools.map(({ mcp, name }) => (
          <div key={`${mcp} ${name}`}>{box(name, `MCP · ${mcp}`)}</div>
        ))}
        {unknown.map((name) => (
          <div key={name}>{box(name, 'unknown here: it cannot be run')}</div>
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
        <div className="mt-1.5 flex flex-wrap gap-1.5">
          <Button
            ref={addButton}
            aria-label="Add a mock tool"
            className="px-2! text-xs"
            onClick={() => setEditing({ kind: 'new' })}
          >
            <Plus size={14} aria-hidden /> Mock tool
          </Button>
          <Button className="px-2! text-xs" onClick={() => setIsImporting(true)}>
            Import…
          </Button>
          {mcpServers}
        </div>
      )}
      {isImporting && (
        <Suspense>
          <ToolImportDialog
            known={[...known]}
            onImport={(added) => {
              setIsImporting(false)
              onChange({ mockTools: [...mockTools, ...added], tools: [...tools, ...added.map(({ name }) => name)] })
            }}
            onClose={() => setIsImporting(false)}
          />
        </Suspense>
      )}
    </div>
  )
}

/** Returns the first sentence, because descriptions are long texts for models. */
const gist = (description: string | undefined): string | undefined =>
  description?.match(/^.*?[.!?](?=\s|$)/s)?.[0] ?? description
