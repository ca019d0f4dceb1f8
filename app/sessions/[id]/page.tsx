import { redirect } from 'next/navigation'

/** The page /sessions/ID: a session on the page of all sessions. */
export default async function SessionPage({ params }: { readonly params: Promise<{ id: string }> }) {
  redirect(`/sessions?${new URLSearchParams({ session: decodeURIComponent((await params).id) })}`)
}
