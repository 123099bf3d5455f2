# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Builds initramfs images: folders with programs, their libraries and kernel modules, written as
# cpio archives. The kernel unpacks concatenated archives, so an image consists of a static part
# from the cache and a small part for this run.
#
# Nothing is compressed, because unpacking costs more than reading under emulation.

# FILE…: the shared libraries (and loader) that the programs need, one per line
image_libraries() {
	ldd "$@" 2>/dev/null |
		awk '$2 == "=>" && $3 ~ /^\// { print $3; next }
			$1 ~ /^\// && $2 ~ /^\(/ { print $1 }' |
		sort -u
}

# ROOT: make the folders that every image has; /bin and /lib are links, as in Debian
image_make_root() {
	local root=$1
	mkdir -p "$root"/usr/{bin,lib,lib64,share} \
		"$root"/{proc,sys,dev,run,tmp,root,etc,lab,var/cache}
	ln -sfn usr/bin "$root/bin"
	ln -sfn usr/bin "$root/sbin"
	ln -sfn usr/lib "$root/lib"
	ln -sfn usr/lib64 "$root/lib64"
}

# ROOT FILE [DEST]: copy a file or folder to DEST in the image (default: the same path)
image_add() {
	local root=$1 file=$2 dest=${3:-$2}
	mkdir -p "$root${dest%/*}"
	cp -RL --preserve=mode,timestamps "$file" "$root$dest"
}

# ROOT PROGRAM DEST: copy a program and its libraries
image_add_program() {
	local root=$1 program=$2 dest=$3 library
	image_add "$root" "$program" "$dest"
	while read -r library; do
		[ -e "$root$library" ] || image_add "$root" "$library"
	done < <(image_libraries "$program")
}

# ROOT FILE[:DEST]…: copy files, folders, and programs with their libraries (default: into /root)
image_add_files() {
	local root=$1 add file dest
	shift
	for add; do
		file=${add%%:*}
		dest=/root/${file##*/}
		[ "$add" = "$file" ] || dest=${add#*:}
		if [ -f "$file" ] && [ -x "$file" ]; then
			image_add_program "$root" "$file" "$dest"
		else
			image_add "$root" "$file" "$dest"
		fi
	done
}

# ROOT: add busybox, with a link for each of its commands that is not there already
image_add_busybox() {
	local root=$1 applet
	image_add "$root" "$(command -v busybox)" /usr/bin/busybox
	while read -r applet; do
		[ -e "$root/usr/bin/$applet" ] || ln -s busybox "$root/usr/bin/$applet"
	done < <(busybox --list)
}

# ROOT KERNEL MODULE…: add modules as plain .ko files, whose names sort in the order of loading
image_add_modules() {
	local root=$1 kernel=$2 file name i=10
	shift 2
	mkdir -p "$root/lab/modules"
	while read -r file; do
		name=${file##*/}
		case $name in
		*.xz) xz -dc "$file" >"$root/lab/modules/$i-${name%.xz}" ;;
		*.zst) zstd -qdc "$file" >"$root/lab/modules/$i-${name%.zst}" ;;
		*) cp "$file" "$root/lab/modules/$i-$name" ;;
		esac
		i=$((i + 1))
	done < <(kernel_module_files "$kernel" "$@")
}

# ROOT FILE: write the folder as a cpio archive
image_pack() {
	(cd "$1" && find . -mindepth 1 -print0 | sort -z |
		cpio --null --quiet -o -H newc -R 0:0) >"$2"
}

# FILE…: print a short text that changes when one of the files changes
image_key() {
	stat -L -c '%n %s %Y' "$@" | sha256sum | cut -c1-16
}

# NAME KEY BUILDER: set IMAGE_FILE to the cached image with this NAME and KEY. If there is none,
# BUILDER ROOT fills one, and images of this NAME that were not used for days are deleted.
# IMAGE_FILE.files lists the files in the image. The caller holds the cache's lock.
image_get() {
	local name=$1 key=$2 builder=$3 dir=$LAB_CACHE/images work
	IMAGE_FILE=$dir/$name.$key.cpio
	if [ ! -e "$IMAGE_FILE" ]; then
		msg "making the image $name"
		work=$dir/work
		rm -rf "$work"
		mkdir -p "$work/root"
		if ! "$builder" "$work/root" || ! image_pack "$work/root" "$work/cpio"; then
			die "cannot make the image $name in $work"
		fi
		(cd "$work/root" && find . -type f) >"$IMAGE_FILE.files"
		mv "$work/cpio" "$IMAGE_FILE"
		rm -rf "$work"
		find "$dir" -name "$name.*.cpio*" -mtime +3 -delete
	fi
	touch "$IMAGE_FILE" "$IMAGE_FILE.files"
}
