"use strict";
// Each run has a slider, which shows how things are at a moment. What is said there was written into the page.
document.documentElement.classList.add("scripted");

for (const run of document.querySelectorAll(".variant")) {
	const steps = run.querySelector(".steps");
	if (steps) {
		browse(run, JSON.parse(steps.textContent));
	}
}

function browse(run, steps) {
	const slider = run.querySelector("input");
	const heads = [...run.querySelectorAll(".head")];

	// last is the number of the step that a moment belongs to
	const last = at => steps.findLastIndex(step => step.at <= at + 1e-6);

	function show(at) {
		const step = steps[Math.max(0, last(at))];
		for (const head of heads) {
			const { from, to } = head.dataset, place = 100 * (at - from) / (to - from);
			head.hidden = place < 0 || place > 100;
			head.style.left = place + "%";
		}
		run.querySelector(".time").textContent = slider.ariaValueText = moment(at);
		for (const part of run.querySelectorAll("[data-part]")) {
			part.replaceChildren(...step[part.dataset.part].map(word => {
				const shown = document.createElement("span");
				shown.className = word.class;
				shown.textContent = word.text;
				return shown;
			}));
		}
		const said = [...run.querySelectorAll("[data-part]")].filter(part => part.textContent)
			.map(part => part.previousElementSibling.textContent + " " + [...part.children].map(w => w.textContent).join(", "));
		slider.ariaValueText = [moment(at), ...said].join("; ");
	}

	function go(by) {
		const at = Number(slider.value), here = last(at);
		const next = by > 0 ? here + 1 : steps[here].at < at - 1e-6 ? here : here - 1;
		slider.value = steps[Math.min(Math.max(next, 0), steps.length - 1)].at;
		show(Number(slider.value));
	}

	slider.addEventListener("input", () => show(Number(slider.value)));
	run.querySelector(".before").addEventListener("click", () => go(-1));
	run.querySelector(".after").addEventListener("click", () => go(1));
	slider.value = slider.getAttribute("value"); // a browser that comes back to a page remembers another
	show(Number(slider.value));
}

function moment(ms) {
	return ms < 1000 ? (ms < 10 ? ms.toFixed(1) : ms.toFixed(0)) + " ms" : (ms / 1000).toFixed(2) + " s";
}
