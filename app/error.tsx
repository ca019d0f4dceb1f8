'use client'
import { Button } from '#components/ui/button.tsx'

export default function ErrorPage({ error, reset }: { readonly error: Error; readonly reset: () => void }) {
  return (
    <main className="grid h-dvh place-content-center gap-3 p-4 text-center">
      <h1 className="font-semibold text-lg">Something broke in this page</h1>
      <p className="max-w-lg text-dim [overflow-wrap:anywhere]">{error.message}</p>
      <div>
        <Button look="primary" onClick={reset}>
          Draw it again
        </Button>
      </div>
    </main>
  )
}
