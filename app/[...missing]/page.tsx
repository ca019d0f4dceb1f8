import { notFound } from 'next/navigation'

/** The page of every address that no other page has. */
export default function MissingPage() {
  notFound()
}
