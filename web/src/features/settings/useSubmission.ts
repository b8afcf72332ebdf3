import { useMutation } from '@tanstack/react-query';
import { useRef, type FormEvent } from 'react';

/** What a form does when it is sent; two quick Enters are one. */
export function useSubmission<T>({ isWhole, send, done }: { isWhole: boolean; send: () => Promise<T>; done: (answer: T) => unknown }) {
  const isSending = useRef(false);
  const { mutate, ...mutation } = useMutation({ mutationFn: send, onSuccess: done, onSettled: () => void (isSending.current = false) });
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    if (!isWhole || isSending.current) return;
    isSending.current = true;
    mutate();
  };
  return { ...mutation, onSubmit, isOff: !isWhole || mutation.isPending };
}
