import { Check, Copy } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useText } from '@/i18n';
import { announce } from '@/lib/announce';
import { IconButton } from './IconButton';

export function CopyButton({ text, label }: { text: string; label?: string }) {
  const t = useText('common');
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setCopied(false), 2000);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = () =>
    void navigator.clipboard.writeText(text).then(() => {
      setCopied(true);
      announce(t('copied'));
    });
  return (
    <IconButton label={isCopied ? t('copied') : (label ?? t('copy'))} onClick={copy}>
      {isCopied ? <Check size={14} aria-hidden /> : <Copy size={14} aria-hidden />}
    </IconButton>
  );
}
