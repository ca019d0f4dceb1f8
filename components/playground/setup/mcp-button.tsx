'use client'
import dynamic from 'next/dynamic'
import { useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import type { Setup } from '#lib/share/settings/setup.ts'

const McpDialog = dynamic(async () => (await import('./mcp-dialog.tsx')).McpDialog, { loading: () => null })

interface McpButtonProps extends Pick<Setup, 'tools' | 'mockTools' | 'mcpTools'> {
  readonly onChange: (chosen: Pick<Setup, 'tools' | 'mcpTools'>) => void
}

/** Leads to the tools of MCP servers. */
export function McpButton(props: McpButtonProps) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <>
      <Button className="px-2! text-xs" onClick={() => setIsOpen(true)}>
        MCP …
      </Button>
      {isOpen && <McpDialog {...props} onClose={() => setIsOpen(false)} />}
    </>
  )
}
