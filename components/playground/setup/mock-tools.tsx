'use client'
import { Copy, Eye, Pencil, Trash2 } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Setup } from '#lib/share/settings/setup.ts'
import type { MockTool } from '#lib/tools/mock-tool.ts'
import { MockToolDialog } from '../tools/mock-tool-dialog.tsx'

/** The tool in the editor: a new one, a copy, or an existing one. */
export type EditedTool =
  | { readonly kind: 'new' }
  | { readonly kind: 'copy'; readonly tool: MockTool }
  | { readonly kind: 'change'; readonly tool: MockTool }

interface MockToolsProps extends Pick<Setup, 'tools' | 'mockTools'> {
  /** Names of the tools that come with Rollscope. */
  readonly builtIn: readonly string[]
  readonly isFixed: boolean
  /** Renders the check box that chooses a tool. */
  readonly box: (name: string, note: string) => ReactNode
  readonly editing: EditedTool | undefined
  readonly onEdit: (editing: EditedTool | undefined) => void
  readonly onChange: (chosen: Pick<Setup, 'tools' | 'mockTools'>) => void
  /** Called after a row and its buttons were removed, to place the focus. */
  readonly onRemoved: () => void
}

/** List of the user's mock tools, with the editor of one of them. */
export function MockTools(props: MockToolsProps) {
  const { tools, mockTools, builtIn, isFixed, box, editing, onEdit, onChange, onRemoved } = props
  const save = (saved: MockTool) => {
    const old = editing?.kind === 'change' ? editing.tool.name : undefined
    onEdit(undefined)
    onChange({
      mockTools: mockTools.some(({ name }) => name === old)
        ? mockTools.map((tool) => (tool.name === old ? saved : tool))
        : [...mockTools, saved],
      tools: renameTool(tools, old, saved.name),
    })
  }
  const remove = (tool: MockTool) => {
    onRemoved()
    onChange({
      mockTools: mockTools.filter(({ name }) => name !== tool.name),
      tools: builtIn.includes(tool.name) ? tools : tools.filter((name) => name !== tool.name),
    })
  }
  return (
    <>
      {mockTools.length > 0 && (
        <ul aria-label="Mock tools">
          {mockTools.map((tool) => (
            <li key={tool.name} className="flex items-center">
              <div className={`min-w-0 flex-1 ${isFixed ? 'opacity-60' : ''}`}>{box(tool.name, 'mock')}</div>
              {isFixed ? (
                <RowButton label={`Show ${tool.name}`} onClick={() => onEdit({ kind: 'change', tool })}>
                  <Eye size={14} aria-hidden />
                </RowButton>
              ) : (
                <>
                  <RowButton label={`Edit ${tool.name}`} onClick={() => onEdit({ kind: 'change', tool })}>
                    <Pencil size={14} aria-hidden />
                  </RowButton>
                  <RowButton label={`Duplicate ${tool.name}`} onClick={() => onEdit({ kind: 'copy', tool })}>
                    <Copy size={14} aria-hidden />
                  </RowButton>
                  <RowButton label={`Delete ${tool.name}`} onClick={() => remove(tool)}>
                    <Trash2 size={14} aria-hidden />
                  </RowButton>
                </>
              )}
            </li>
          ))}
        </ul>
      )}
      {editing && (
        <MockToolDialog
          tool={editing.kind === 'new' ? undefined : editing.tool}
          others={mockTools
            .filter((tool) => editing.kind !== 'change' || tool !== editing.tool)
            .map(({ name }) => name)}
          builtIn={builtIn}
          isReadOnly={isFixed}
          onSave={save}
          onClose={() => onEdit(undefined)}
        />
      )}
    </>
  )
}

interface RowButtonProps {
  readonly label: string
  readonly onClick: () => void
  readonly children: ReactNode
}

const RowButton = ({ label, onClick, children }: RowButtonProps) => (
  <button
    type="button"
    className="grid size-7 shrink-0 place-items-center rounded-md text-dim hover:bg-panel hover:text-ink"
    aria-label={label}
    title={label}
    onClick={onClick}
  >
    {children}
  </button>
)

/** Returns the chosen tools after a save: a new tool is chosen, and a renamed one stays chosen or not. */
const renameTool = (tools: readonly string[], old: string | undefined, name: string): readonly string[] =>
  old === undefined
    ? [...tools.filter((tool) => tool !== name), name]
    : tools.map((tool) => (tool === old ? name : tool)).filter((tool, i, all) => all.indexOf(tool) === i)
