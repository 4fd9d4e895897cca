#!/bin/sh
# Fails where a page of the guide links to a page, or a heading of it, that is not there.
cd "${1:-guide}" || exit 1
grep -o ']([^)]*)' -- *.md | sed 's/:](/ /; s/)$//' | {
	status=0
	while read -r from target; do
		page=${target%%#*}
		heading=${target#"$page"}
		case $target in http*) continue ;; esac
		if ! test -f "${page:-$from}"; then
			echo "$from: no page $page"
			status=1
		elif test -n "$heading" && ! sed -n 's/^#* //p' "${page:-$from}" | tr 'A-Z ' 'a-z-' | grep -qx -- "${heading#?}"; then
			echo "$from: no heading $heading in ${page:-$from}"
			status=1
		fi
	done
	exit $status
}
