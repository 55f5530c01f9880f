"use strict";
(() => {
	const root = document.documentElement, top = document.currentScript.dataset.root;
	const schemes = { "": "Auto", light: "Light", dark: "Dark" };

	// Where pages may store nothing, what is chosen lasts until the next page.
	const remembered = () => { try { return localStorage.getItem("scheme") || "" } catch { return "" } };
	const remember = scheme => { try { localStorage.setItem("scheme", scheme) } catch { /* not remembered */ } };

	// Before anything is drawn, so that no page is first light and then dark.
	root.classList.add("scripts");
	show(remembered());

	function show(scheme) {
		if (scheme in schemes && scheme) root.dataset.scheme = scheme;
		else delete root.dataset.scheme;
	}

	function switchScheme(button) {
		const label = () => {
			const name = schemes[root.dataset.scheme || ""];
			button.textContent = name;
			button.setAttribute("aria-label", "Colours: " + name);
		};
		button.addEventListener("click", () => {
			const names = Object.keys(schemes);
			const next = names[(names.indexOf(root.dataset.scheme || "") + 1) % names.length];
			remember(next);
			show(next);
			label();
		});
		label();
	}

	function addCopyButton(pre) {
		const box = document.createElement("div"), button = document.createElement("button");
		box.className = "code";
		button.className = "copy";
		button.type = "button";
		button.textContent = "Copy";
		button.addEventListener("click", async () => {
			button.textContent = await copied(pre) ? "Copied" : "Press Ctrl+C";
			setTimeout(() => button.textContent = "Copy", 2000);
		});
		pre.replaceWith(box);
		box.append(pre, button);
	}

	// A browser that lets pages from folders copy nothing leaves the code selected.
	async function copied(pre) {
		try {
			await navigator.clipboard.writeText(pre.textContent);
			return true;
		} catch {
			getSelection().selectAllChildren(pre);
			return false;
		}
	}

	// What scrolls can be reached without a mouse.
	function reachable(box) {
		if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
	}

	// The navigation may be longer than the window.
	function showInNavigation(here) {
		const nav = here?.closest("nav");
		if (nav) nav.scrollTop = here.offsetTop - nav.clientHeight / 2;
	}

	let index;
	const loadIndex = () => index ??= new Promise(resolve => {
		const script = document.createElement("script");
		script.src = top + "search-index.js";
		script.onload = () => resolve(window.searchIndex);
		script.onerror = () => resolve([]);
		document.head.append(script);
	});

	const wordsOf = query => query.toLowerCase().split(/\s+/).filter(Boolean);

	// A section counts by where the words are; one that lacks a word does not count.
	function weight(section, words) {
		const title = section.title.toLowerCase(), heading = section.heading.toLowerCase();
		const text = section.text.toLowerCase(), first = heading === title;
		let sum = 0;
		for (const word of words) {
			const found = (title.includes(word) ? (first ? 8 : 2) : 0) + (!first && heading.includes(word) ? 6 : 0) +
				(text.includes(word) ? 1 : 0);
			if (!found) return 0;
			sum += found;
		}
		return sum;
	}

	const find = (sections, words) => sections
		.map(section => ({ section, weight: weight(section, words) }))
		.filter(found => found.weight)
		.sort((a, b) => b.weight - a.weight)
		.map(found => found.section);

	// The sentence with the most of the words.
	function sentence(text, words) {
		let best = "", most = -1;
		for (const candidate of text.split(/\n|(?<=[.!?:]) /)) {
			const low = candidate.toLowerCase(), count = words.filter(word => low.includes(word)).length;
			if (count > most) [best, most] = [candidate, count];
		}
		return shorten(best, words);
	}

	function shorten(text, words) {
		const most = 220;
		if (text.length <= most) return text;
		const places = words.map(word => text.toLowerCase().indexOf(word)).filter(at => at >= 0);
		const from = Math.max(0, Math.min(...places, text.length) - most / 3);
		const start = from ? text.indexOf(" ", from) + 1 : 0;
		return (start ? "… " : "") + text.slice(start, start + most) + (start + most < text.length ? " …" : "");
	}

	function marked(text, words) {
		const escaped = words.map(word => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
		return text.split(new RegExp("(" + escaped.join("|") + ")", "i")).map((piece, i) => {
			if (i % 2 === 0) return piece;
			const mark = document.createElement("mark");
			mark.textContent = piece;
			return mark;
		});
	}

	function result(section, words) {
		const item = document.createElement("li"), link = document.createElement("a");
		const where = section.heading === section.title ? section.title : section.title + " › " + section.heading;
		const said = document.createElement("small");
		link.href = top + section.page + "#" + section.anchor;
		said.append(...marked(sentence(section.text, words), words));
		link.append(...marked(where, words), said);
		item.append(link);
		return item;
	}

	function search(form) {
		const input = form.querySelector("input"), box = form.querySelector("#site-found");
		const list = box.querySelector("ol"), status = box.querySelector("p"), shown = 30;

		async function look() {
			const words = wordsOf(input.value), sections = await loadIndex();
			if (words.join() !== wordsOf(input.value).join()) return; // somebody typed on meanwhile
			const found = words.length ? find(sections, words) : [];
			status.textContent = found.length > shown ? `The first ${shown} of ${found.length} sections`
				: found.length ? "" : "Nothing has all these words";
			list.replaceChildren(...found.slice(0, shown).map(section => result(section, words)));
			box.hidden = !words.length;
		}

		function move(by) {
			const links = [input, ...list.querySelectorAll("a")];
			const at = links.indexOf(document.activeElement) + by;
			if (at >= 0 && at < links.length) links[at].focus();
		}

		const keys = {
			ArrowDown: () => move(1),
			ArrowUp: () => move(-1),
			Escape: () => { box.hidden = true; input.focus(); },
		};
		form.addEventListener("keydown", event => {
			if (!(event.key in keys) || event.isComposing) return;
			event.preventDefault();
			keys[event.key]();
		});
		form.addEventListener("submit", event => {
			event.preventDefault();
			list.querySelector("a")?.click();
		});
		input.addEventListener("input", look);
		input.addEventListener("focus", () => { if (input.value && list.children.length) box.hidden = false; });
		list.addEventListener("click", () => box.hidden = true);
		document.addEventListener("click", event => { if (!form.contains(event.target)) box.hidden = true; });
		document.addEventListener("keydown", event => {
			const typing = event.target.closest?.("input, textarea, select, [contenteditable]");
			if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
			event.preventDefault();
			input.focus();
			input.select();
		});
		input.value = new URLSearchParams(location.search).get("q") || "";
		if (input.value) look();
	}

	document.addEventListener("DOMContentLoaded", () => {
		switchScheme(document.querySelector(".scheme"));
		document.querySelectorAll("pre").forEach(addCopyButton);
		document.querySelectorAll("pre, .scroll").forEach(reachable);
		search(document.querySelector(".search"));
		showInNavigation(document.querySelector("#site-nav [aria-current]"));
		const contents = document.querySelector(".contents"), wide = matchMedia("(min-width: 76rem)");
		const open = () => contents?.toggleAttribute("open", wide.matches);
		wide.addEventListener("change", open);
		open();
	});
})();
