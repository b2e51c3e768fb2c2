// Runs inside JMeter's own window (test_gui.py starts it): opens each plan as File > Open does and
// saves it (a copy of that gets the ending .untouched), then clicks every element of its tree,
// takes a picture of the screen and saves it again. What it saw goes to gui.json; a dialog is
// written down and closed.
//
// tollgate.plans: paths of the plans, tollgate.seen: the folder for pictures and gui.json
import groovy.json.JsonOutput
import java.awt.Container
import java.awt.Rectangle
import java.awt.Robot
import java.awt.Toolkit
import java.awt.Window
import java.awt.event.ActionEvent
import java.nio.file.Files
import javax.imageio.ImageIO
import javax.swing.JDialog
import javax.swing.JLabel
import javax.swing.SwingUtilities
import javax.swing.text.JTextComponent
import javax.swing.tree.TreePath
import org.apache.jmeter.gui.GuiPackage
import org.apache.jmeter.gui.action.ActionNames
import org.apache.jmeter.gui.action.ActionRouter
import org.apache.jmeter.gui.action.Load

LOOK_AGAIN_MS = 20

def showing() { Window.windows.findAll { it.showing } }

def texts(component) {
    if (component instanceof JLabel || component instanceof JTextComponent) return [component.text]
    component instanceof Container ? component.components.collectMany { texts(it) } : []
}

/** Does something that may end in a dialog, on Swing's thread; returns the dialogs it showed. */
def dialogsOf(Closure action) {
    def dialogs = []
    def done = false
    SwingUtilities.invokeLater { try { action() } finally { SwingUtilities.invokeLater { done = true } } }
    while (!done || showing().any { it instanceof JDialog }) {
        showing().findAll { it instanceof JDialog }.each {
            dialogs << "${it.title}: ${texts(it).findAll().join(' ')}".toString()
            it.dispose()
        }
        Thread.sleep(LOOK_AGAIN_MS)
    }
    dialogs
}

def event(name) { new ActionEvent(this, 1, name) }

def save() { dialogsOf { ActionRouter.instance.doActionNow(event(ActionNames.SAVE)) } }

def visit(gui, plan, seen) {
    def dialogs = dialogsOf { Load.loadProjectFile(event(ActionNames.OPEN), plan, false, true) }
    dialogs += save()
    Files.copy(plan.toPath(), new File("${plan}.untouched").toPath())
    def nodes = Collections.list(gui.treeModel.root.preorderEnumeration())
    // Each element is left again, which is when its panel is read; the plan comes last, for the
    // picture. What stands above it in the tree is no part of the file.
    [*nodes.drop(2), nodes[1]].each { node ->
        dialogs += dialogsOf { gui.mainFrame.tree.selectionPath = new TreePath(node.path) }
    }
    gui.mainFrame.tree.with { tree -> SwingUtilities.invokeAndWait { (0..<99).each { tree.expandRow(it) } } }
    def screen = new Rectangle(Toolkit.defaultToolkit.screenSize)
    ImageIO.write(new Robot().createScreenCapture(screen), 'png', new File(seen, "${plan.name}.png"))
    dialogs += save()
    [title: gui.mainFrame.title, elements: nodes.drop(1)*.name, dialogs: dialogs,
     windows: showing()*.title]
}

def main() {
    while (!(GuiPackage.instance?.mainFrame?.showing && showing().size() == 1)) Thread.sleep(LOOK_AGAIN_MS)
    def seen = new File(System.getProperty('tollgate.seen'))
    def plans = System.getProperty('tollgate.plans').split(File.pathSeparator)
    def report = plans.collectEntries { [it, visit(GuiPackage.instance, new File(it), seen)] }
    new File(seen, 'gui.json').text = JsonOutput.toJson(report)
}

Thread.startDaemon('open and save') {
    def failed = 0
    try { main() } catch (Throwable reason) { reason.printStackTrace(); failed = 1 }
    Runtime.runtime.halt(failed)
}
