'use client'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { useServerStatus } from '#components/shell/use-server-status.ts'
import { BUILT_IN } from '#lib/api/server-name.ts'
import { ApiError } from '#lib/browser/api.ts'
import { serverTokenizerName, tokenizerTemplates } from '#lib/browser/templates/template-sources.ts'
import { downloadsOptions, tokenizerNamesOptions } from '#lib/browser/tokenizers.ts'
import type { TokenizerReading } from './tokenizer-form-end.tsx'

/** Loads a tokenizer before it is chosen, so that no page has a tokenizer that cannot be loaded. */
export function useTokenizerCheck(server: string) {
  const [state, setState] = useState<TokenizerReading>('asking')
  const running = useRef(new AbortController())
  useEffect(() => () => running.current.abort(), [])
  const { name, status } = useServerStatus(server)
  const { data: waitingFor } = useQuery(downloadsOptions(state === 'reading'))
  const { data: names = [] } = useQuery(tokenizerNamesOptions())
  const reportedName = status.state === 'ready' ? serverTokenizerName(name, status) : undefined
  return {
    state,
    /** Downloads in progress while a tokenizer is read. */
    downloads: state === 'reading' ? waitingFor?.downloads : undefined,
    /** The built-in tokenizer, the one that the server reports, and those in the folders of ROLLSCOPE_TOKENIZERS. */
    suggested: [...new Set([BUILT_IN, reportedName ?? BUILT_IN, ...names])],
    /** Loads the tokenizers and then calls `then`; a new check cancels the previous one. */
    check: async (names: readonly string[], then: () => void) => {
      running.current.abort()
      const controller = new AbortController()
      running.current = controller
      setState('reading')
      try {
        await Promise.all(names.map((name) => tokenizerTemplates(name, controller.signal)))
        if (!controller.signal.aborted) then()
      } catch (error) {
        if (controller.signal.aborted) return
        if (!(error instanceof ApiError)) throw error
        setState(error)
      }
    },
  }
}
