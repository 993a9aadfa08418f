// Evaluated in the report: shows every result in turn; gives what was seen and what is wrong.
(async () => {
    const wrong = [];
    const seen = [];
    const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
    while (!app) await pause(50);
    const manager = new ToggleViewManager(app);

    async function picture(img, name) {
        await img.decode().catch(() => wrong.push(`${name}: picture not shown`));
        if (img.naturalWidth < 100) wrong.push(`${name}: picture ${img.naturalWidth} pixels wide`);
    }

    async function page(uri, name) {
        const frame = document.createElement("iframe");
        frame.srcdoc = await (await fetch(uri)).text();
        const loaded = new Promise((done) => { frame.onload = done; });
        document.body.append(frame);
        await loaded;
        if (!frame.contentDocument.querySelector("h1")) wrong.push(`${name}: empty page`);
        for (const img of frame.contentDocument.images) {
            await picture(img, name);
            if (!img.alt || img.alt.startsWith("No description")) wrong.push(`${name}: no alt text`);
        }
        frame.remove();
    }

    for (const category of Object.keys(categories)) {
        app.setView({ navbarMode: "menu" });
        await pause(50);
        app.showCategory(category);
        await pause(50);
        for (const path of Object.values(categories[category]).flat()) {
            const { mime_type, data_uri, labels } = results[path];
            if (!document.body.innerText.includes(labels.result)) wrong.push(`${path}: not listed`);
            manager.handleSelectedResult(path);
            await pause(50);
            if (mime_type.startsWith("image/")) await picture(document.querySelector("div.p-3 > img"), path);
            if (mime_type === "text/html") await page(data_uri, path);
            seen.push(path);
        }
    }
    app.setView({ content: "stats" });
    await pause(500);
    if (!document.querySelector("#runtimes canvas, #runtimes svg")) wrong.push("no runtimes");
    return { seen, wrong };
})()
